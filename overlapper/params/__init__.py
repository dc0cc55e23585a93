"""Parameters of every stage, scores, names of options; presets are in `overlapper.overlap.presets`."""
