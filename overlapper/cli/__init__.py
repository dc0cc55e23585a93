"""The command line, one file a command.

A command file defines one function of its own name, and the text ``EXAMPLES`` that its help ends with; add
its name to ``COMMANDS``. The parts of the name are the words that call it: ``graph_stats`` is ``overlapper
graph stats``. A call reads the file of its command alone, or all files where it names none. They import only
the standard library, typer and ``overlapper.errors`` at their top, and what they work with inside the
function: ``overlapper --help`` answers before numpy would be loaded.

Exit codes: 0 done, 1 an error that the user can mend (`overlapper.errors`), 2 wrong usage, 70 a fault of
overlapper; 130, 143 and 129 ended by a signal (`overlapper.console`); 141 nobody reads the output any more
(`READER_LEFT`).
"""

from __future__ import annotations

import importlib
import os
import sys
import textwrap
import traceback
from types import ModuleType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from overlapper.cli.foreign_options import instead_of
from overlapper.cli.resource_limits import check_address_space, lack_of_files, lack_of_memory
from overlapper.cli.standard_error import forgive_standard_error
from overlapper.errors import OverlapperError
from overlapper.version import __version__


class _Command(TyperCommand):
    """A command as it is parsed and called."""

    def invoke(self, ctx: Any) -> Any:
        """Call the command; it ends as a program that SIGPIPE ends where nobody reads its output any more."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # which typer would turn into exit code 1
            _let_output_go()
            sys.exit(READER_LEFT)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; where one is missing, the message names all that the command takes.

        Where an option is another program's, name ours.
        """
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            arguments = [p for p in self.params if p.param_type_name == "argument"]
            if error.param in arguments and len(arguments) > 1 and not error.message:
                names = " ".join(argument.metavar or "" for argument in arguments)
                error.message = f"This command takes {names}"
            raise
        except Exception as error:  # typer has no public name for that of an unknown option
            if said := instead_of(getattr(error, "option_name", ""), self.name or ""):
                vars(error).update(
                    message=f"No such option: {vars(error)['option_name']}. Here {said}", possibilities=None
                )
            raise


class _Group(TyperGroup):
    """A group of commands that tells a truncated file from a user who ends the input by Ctrl-D."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except EOFError as error:  # the parser would say "Aborted!", and nothing else
            raise RuntimeError("something ended too early") from error


def _group(name: str, summary: str, *, completion: bool = False) -> typer.Typer:
    return typer.Typer(
        name=name,
        cls=_Group,
        help=summary,
        no_args_is_help=True,
        add_completion=completion,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


app = _group("overlapper", "Find the overlaps of long DNA reads, and lay them out.", completion=True)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"overlapper {__version__}")
        raise typer.Exit


@app.callback()
def _overlapper(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    pass


COMMANDS = (
    "overlap",
    "assemble",
    "correct",
    "layout",
    "polish",
    "graph_stats",
    "graph_plot",
    "convert",
    "report",
    "plot_pair",
    "plot_pile",
    "seeds",
    "index",
    "map",
    "align",
    "evaluate",
    "simulate",
    "compile",
    "devices",
)
READER_LEFT = 141
"""What a shell shows for a program that SIGPIPE ended, as it does where nobody reads the output any more."""
_HELP = {"--help", "-h", "--version"}
GROUPS = {
    "graph": _group("graph", "Look at assembly graphs."),
    "plot": _group("plot", "Draw overlaps."),
}
"""Commands of several words, by their first one."""

for _name in GROUPS:
    app.add_typer(GROUPS[_name], name=_name)


def words_of(command: str) -> list[str]:
    """Return the words that call a command."""
    return command.split("_")


def module_of(command: str) -> ModuleType:
    """Import the file of a command."""
    return importlib.import_module(f"overlapper.cli.{command}")


def called_by(arguments: list[str]) -> list[str]:
    """Return the command that arguments begin with, or all commands if it is none of them."""
    called = [name for name in COMMANDS if words_of(name) == arguments[: len(words_of(name))]]
    return called or list(COMMANDS)


def _add(command: str) -> None:
    module = module_of(command)
    *first, last = words_of(command)
    # \b keeps the lines of a paragraph as they are
    examples = "\b\nExamples:\n" + textwrap.indent(module.EXAMPLES.strip("\n"), "  ")
    parent = GROUPS[first[0]] if first else app
    parent.command(last, cls=_Command, epilog=examples)(getattr(module, command))


def main() -> None:
    """Run the command line; `overlapper.console` is the console script, which has signals end it."""
    # We have no linear algebra: the threads that numpy starts for it, one a core, would only wait, spinning.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    forgive_standard_error()
    try:
        if not _HELP & set(sys.argv):
            check_address_space()
        for command in called_by(sys.argv[1:]):
            _add(command)
        output = sys.stdout
        try:
            app(prog_name="overlapper")
        except SystemExit:
            if sys.stdout is not output:  # click takes its place where nobody reads it any more
                sys.exit(READER_LEFT)
            raise
        finally:
            _flush_output()
    except OverlapperError as error:
        _fail(f"error: {lack_of_files(error) or error}", 1)
    except OSError as error:
        if said := lack_of_files(error):
            _fail(f"error: {said}", 1)
        _let_output_go()
        if isinstance(error, BrokenPipeError):
            sys.exit(READER_LEFT)
        if said := lack_of_memory(error):
            _fail(f"error: {said}", 1)
        _fail(f"error: the operating system refused: {error}. Check the free space and your permissions", 1)
    except Exception as error:
        if said := lack_of_memory(error):
            _fail(f"error: {said}", 1)
        traceback.print_exc()
        _fail(
            f"error: unexpected {type(error).__name__}. This is a fault of overlapper {__version__}, not "
            "yours: please report it with the lines above and the command you ran",
            70,
        )


def _flush_output() -> None:
    """Hand what was written to the system; what it does not take is told as an error of standard output."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        from overlapper.io.outputs import unwritten_output

        _let_output_go()
        raise unwritten_output(error) from None


def _let_output_go() -> None:
    """Point standard output to nowhere, so that the flush at exit has somewhere to go."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int) -> None:
    print(f"overlapper: {message}", file=sys.stderr)
    sys.exit(code)
