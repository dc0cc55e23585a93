"""``overlapper compile``: kernels compiled before the first run that needs them."""

from __future__ import annotations

from typing import Annotated

import typer

from overlapper.cli import options

EXAMPLES = """
overlapper compile layout
overlapper compile overlap correct --threads 4
overlapper compile --all
"""


def compile(
    commands: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COMMAND...]", help="Commands whose first runs compile for long."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All such commands.")] = False,
    threads: options.Threads = 0,
    quiet: options.Quiet = False,
    log: options.Log = None,
) -> None:
    """Compile the kernels of commands beforehand, so that their first runs need not.

    They are kept where the first run would keep them: in the folder of NUMBA_CACHE_DIR, beside the code, or
    in ~/.cache/overlapper. They are for this machine's processor and this version. What an ordinary run needs
    is compiled; unusual options may need more, which is compiled when they are used.
    """
    from overlapper.cli.first_kernels import compile_all, kernels_of
    from overlapper.cli.progress import Progress
    from overlapper.runtime.threads import available_threads

    lines = kernels_of(commands or [], everything)
    with Progress(quiet, log=log) as progress:
        made = []
        for folder in compile_all(lines, threads or available_threads()):
            made.append(folder)
            progress.report("compiling", len(made), len(lines))
        new = [folder for folder in made if folder]
        where = f", kept in {new[0]}" if new else ""
        progress.note(f"{len(new)} kernels compiled{where}; {len(made) - len(new)} were there")
