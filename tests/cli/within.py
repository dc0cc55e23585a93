"""Commands within this process, as often as one likes."""

import functools
import sys

import typer.main

from overlapper import cli

# What a command takes is read from its text, which takes longer than most commands that refuse something.
typer.main.get_params_from_function = functools.cache(typer.main.get_params_from_function)


def main(words):
    """Call a command and return its exit code."""
    for group in (cli.app, *cli.GROUPS.values()):
        group.registered_commands.clear()  # those of earlier calls, which would be built again
    sys.argv = ["overlapper", *words]
    try:
        cli.main()
    except SystemExit as stop:
        return stop.code or 0
    return 0
