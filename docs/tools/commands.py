"""Write the command reference, ``docs/commands.md``, and the manual pages, from the commands themselves.

Run ``python -m docs.tools.commands`` after changing an option; a test compares the two.
"""

import inspect
import types
import typing
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


VALUES = {int: "N", float: "X"}
"""What stands for a value where the option does not say; one of text has to (metavar)."""


def reference():
    """Return the text of the page."""
    return "\n".join([HEAD, *map(section, cli.COMMANDS)])


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
    rows += [(p.spelling, p.help, p.default) for p in parameters]
    table = "\n".join(f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows)
    examples = f"```sh\n{cli.module_of(command).EXAMPLES.strip()}\n```"
    return f"## {name}\n\n{inspect.cleandoc(function.__doc__)}\n\n`{usage}`\n\n{table}\n\n{examples}\n"


class Parameter:
    """One argument or option of a command, as its function declares it."""

    def __init__(self, parameter):
        kind, info = typing.get_args(parameter.annotation)
        self.is_argument = isinstance(info, ArgumentInfo)
        self.help = info.help
        self.default = self._default(parameter.default)
        if self.is_argument:
            self.spelling = f"`{info.metavar or parameter.name.upper()}`"
        else:
            # Within Annotated, typer keeps the first name given as the default.
            given = [name for name in (info.default, *(info.param_decls or ())) if isinstance(name, str)]
            names = sorted(given or ["--" + parameter.name.replace("_", "-")], key=len)
            value = "" if kind is bool else f" `{info.metavar or VALUES[self._plain(kind)]}`"
            self.spelling = ", ".join(f"`{name}`" for name in names) + value

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
