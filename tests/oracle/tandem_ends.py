"""Tandem arrays at the ends of reads, straight from the definition (`overlapper.sketch.tandem_ends`)."""


def array(sequence, longest, span, sites):
    """Bases of the array that a sequence begins with; 0 for none."""
    if len(sequence) < span:
        return 0
    differing = {
        unit: [i for i in range(unit, len(sequence)) if sequence[i] != sequence[i - unit]]
        for unit in range(1, longest + 1)
    }
    fewest, unit = min((sum(i < span for i in places), unit) for unit, places in differing.items())
    if fewest >= sites:
        return 0
    places = differing[unit]
    return places[sites - 1] if len(places) >= sites else len(sequence)
