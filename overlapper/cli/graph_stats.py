"""``overlapper graph stats``: an assembly graph in numbers."""

from __future__ import annotations

from typing import Annotated

from overlapper.cli import options
from overlapper.cli.outputs import OUTPUT, check_files
from overlapper.cli.run_files import load_compute

EXAMPLES = """
overlapper graph stats layout.gfa
overlapper graph stats other_assembler.gfa.gz --json stats.json
"""


def graph_stats(
    gfa: options.Gfa,
    output: Annotated[str, options.output("The figures as text. - is standard output.")] = "-",
    json_file: Annotated[str | None, options.file("Write JSON.", "--json")] = None,
) -> None:
    """Describe an assembly graph.

    Prints one figure per line: segments, links, bases, N50, components, ends without a link, and more.
    """
    check_files({OUTPUT: output, "--json": json_file}, [gfa])
    load_compute()

    import dataclasses

    from overlapper.graph.gfa import read_gfa
    from overlapper.graph.stats import graph_stats
    from overlapper.io.outputs import write_text

    stats = dataclasses.asdict(graph_stats(read_gfa(gfa)))
    if json_file:
        import json

        write_text(json_file, f"{json.dumps(stats, indent=2)}\n")
    lines = [f"{name.replace('_', ' ')}\t{_shown(value)}\n" for name, value in stats.items()]
    write_text(output, "".join(lines))


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.2f}"
