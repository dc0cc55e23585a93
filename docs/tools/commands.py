"""Write the command reference, ``docs/commands.md``, and the manual pages, from the commands themselves.

Run ``python -m docs.tools.commands`` after changing an option; a test compares the two.
"""

import functools
import inspect
import types
import typing
from collections import Counter
from pathlib import Path

from typer.models import ArgumentInfo

from overlapper import cli

PATH = Path(__file__).parents[1] / "commands.md"
HEAD = """\
# Commands

Made from the commands by `python -m docs.tools.commands`. Exit codes: 0 done, 1 an error that you can mend
([errors.md](errors.md)), 2 wrong usage, 70 a fault of overlapper, 130 and 143 ended by Ctrl-C and
SIGTERM. `overlapper --version` prints the version, `overlapper --install-completion` lets bash, zsh, fish or
PowerShell complete commands and options. `-` stands for standard input or output.
"""
SHARED = """\
## Options of several commands

An option of one name means the same wherever it is, and is where it has an effect. The table has the options
that several commands explain in the same words; each command names those that it takes.

- `-o`: text goes to standard output where no file is named; pictures, pages, indexes and folders need a name.
- `--min-overlap` is 100 bases in `overlap`, which reports what there is, and 2,000 where layouts are made and
  overlaps are judged: shorter ones are more often those of repeats.
- `--min-length` is of reads; in `seeds` it is of matches.
- `--memory` is where reads or what is made of them would fill the memory; `map` holds some reads at a time.
- `--stats` is where something is counted. `assemble` has `stats.json` in its folder; `evaluate` and `compare`
  write their figures with `--json`.
- `--config` is where there are more parameters than options, `--device` where GPUs have kernels, `--verbose`
  where counts are shown.
"""
MANY = 3
"""Commands that have an option in the same words, at least, for it to be said once."""

VALUES = {int: "N", float: "X"}
"""What stands for a value where the option does not say; one of text has to (metavar)."""


def reference():
    """Return the text of the page."""
    return "\n".join([HEAD, shared(), *map(section, cli.COMMANDS)])


def shared():
    """Return the options that many commands have in the same words, a table."""
    rows = [f"| {' | '.join(words)} |".replace("|  |", "| |") for words in said_once()]
    return "\n".join([SHARED, "| option | meaning | default |", "| --- | --- | --- |", *rows, ""])


@functools.cache
def said_once():
    """Return spelling, meaning and default of the options that many commands have in the same words."""
    options = [p.words for command in cli.COMMANDS for p in declared(command)[1] if not p.is_argument]
    return [words for words, times in Counter(options).items() if times >= MANY and "required" not in words]


def declared(command):
    """Return the function of a command, and its arguments and options."""
    function = getattr(cli.module_of(command), command)
    return function, [Parameter(p) for p in inspect.signature(function, eval_str=True).parameters.values()]


def section(command):
    """Return what there is to say of one command."""
    name = " ".join(cli.words_of(command))
    function, parameters = declared(command)
    arguments = [p for p in parameters if p.is_argument]
    usage = " ".join(["overlapper", name, *(p.spelling.strip("`") for p in arguments), "[OPTIONS]"])
    rows = [("argument or option", "meaning", "default"), ("---",) * 3]
    once = [p for p in parameters if p.words in said_once()]
    rows += [p.words for p in parameters if p not in once]
    table = "\n".join(f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows)
    names = ", ".join(f"`{p.names[-1]}`" for p in once)
    also = f"\n\nAs in [other commands](#options-of-several-commands): {names}." if once else ""
    examples = f"```sh\n{cli.module_of(command).EXAMPLES.strip()}\n```"
    return f"## {name}\n\n{inspect.cleandoc(function.__doc__)}\n\n`{usage}`\n\n{table}{also}\n\n{examples}\n"


class Parameter:
    """One argument or option of a command, as its function declares it."""

    def __init__(self, parameter):
        kind, info = typing.get_args(parameter.annotation)
        self.is_argument = isinstance(info, ArgumentInfo)
        self.help = info.help
        shown = getattr(info, "show_default", None)
        self.default = f"`{shown}`" if isinstance(shown, str) else self._default(parameter.default)
        if self.is_argument:
            self.spelling = f"`{info.metavar or parameter.name.upper()}`"
        else:
            # Within Annotated, typer keeps the first name given as the default.
            given = [name for name in (info.default, *(info.param_decls or ())) if isinstance(name, str)]
            names = self.names = sorted(given or ["--" + parameter.name.replace("_", "-")], key=len)
            value = "" if self._plain(kind) is bool else f" `{info.metavar or VALUES[self._plain(kind)]}`"
            self.spelling = ", ".join(f"`{name}`" for name in names) + value
        self.words = (self.spelling, self.help, self.default)

    @staticmethod
    def _plain(kind):
        """Return the type of one value: that within an optional one or a list."""
        while isinstance(kind, types.UnionType) or typing.get_origin(kind):
            kind = typing.get_args(kind)[0]
        return kind

    @staticmethod
    def _default(value):
        if value is inspect.Parameter.empty:
            return "required"
        return "" if value is None or value is False or value == "" else f"`{value}`"


if __name__ == "__main__":
    from docs.tools import manual

    PATH.write_text(reference())
    manual.write()
