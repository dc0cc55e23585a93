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

Made from the commands by `python -m docs.tools.commands`. `-` stands for standard input or output.
[Errors](errors.md) explains the exit codes. `overlapper --version` prints the version.
`overlapper --install-completion` lets bash, zsh, fish or PowerShell complete commands and options.
"""
SHARED = """\
## Options of several commands

An option has the same meaning in every command that has it. Options that several commands explain in the
same words are explained here; each command lists which of them it takes.

Without `-o`, text goes to standard output. Pictures, pages, indexes and folders need a name.
"""
MANY = 2
"""Commands that have an argument or option in the same words, at least, for it to be explained once."""

VALUES = {int: "N", float: "X"}
"""What stands for a value where the option does not say; one of text has to (metavar)."""


def reference():
    """Return the text of the page."""
    return "\n".join([HEAD, shared(), *map(section, cli.COMMANDS)])


def shared():
    """Return the arguments and options that several commands explain in the same words."""
    return "\n".join([SHARED, *map(line, said_once()), ""])


def line(words):
    """Return the line of an argument or option."""
    spelling, meaning, default = words
    note = "" if not default else " Required." if default == "required" else f" Default: {default}."
    return f"- {spelling}: {meaning}{note}"


@functools.cache
def said_once():
    """Return spelling, meaning and default of what several commands explain in the same words.

    Where a name has several explanations, the most frequent one is meant.
    """
    all_of_them = [p for command in cli.COMMANDS for p in declared(command)[1]]
    counts = Counter(p.words for p in all_of_them if p.is_argument or p.default != "required")
    names = {p.words: p.name for p in all_of_them}
    usual = {names[words]: words for words, _ in reversed(counts.most_common())}
    return [words for words, times in counts.items() if times >= MANY and usual[names[words]] == words]


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
    once = [p for p in parameters if p.words in said_once()]
    own = "\n".join(line(p.words) for p in parameters if p not in once)
    names = ", ".join(f"`{p.name}`" for p in once)
    also = f"[Shared](#options-of-several-commands): {names}." if once else ""
    examples = f"```sh\n{cli.module_of(command).EXAMPLES.strip()}\n```"
    parts = [f"## {name}", inspect.cleandoc(function.__doc__), f"`{usage}`", own, also, f"{examples}\n"]
    return "\n\n".join(filter(None, parts))


class Parameter:
    """One argument or option of a command, as its function declares it."""

    def __init__(self, parameter):
        kind, info = typing.get_args(parameter.annotation)
        self.is_argument = isinstance(info, ArgumentInfo)
        self.help = info.help
        shown = getattr(info, "show_default", None)
        self.default = f"`{shown}`" if isinstance(shown, str) else self._default(parameter.default)
        if self.is_argument:
            self.name = info.metavar or parameter.name.upper()
            self.spelling = f"`{self.name}`"
        else:
            # Within Annotated, typer keeps the first name given as the default.
            given = [name for name in (info.default, *(info.param_decls or ())) if isinstance(name, str)]
            names = sorted(given or ["--" + parameter.name.replace("_", "-")], key=len)
            value = "" if self._plain(kind) is bool else f" `{info.metavar or VALUES[self._plain(kind)]}`"
            self.name = names[-1]
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
