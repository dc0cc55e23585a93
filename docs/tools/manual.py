"""Write the manual pages, ``docs/man/*.1``, from the commands themselves; a wheel installs them.

``python -m docs.tools.commands`` writes them together with the command commands.
"""

import inspect

from docs.tools import commands
from overlapper import cli
from overlapper.version import __version__

FOLDER = commands.PATH.parent / "man"
CODES = """\
.SH EXIT STATUS
0 done, 1 an error that you can mend, 2 wrong usage, 70 a fault of overlapper,
130 and 143 ended by Ctrl-C and SIGTERM.
"""


def pages():
    """Return the text of each page, by the name of its file."""
    names = {name: "-".join(["overlapper", *cli.words_of(name)]) for name in cli.COMMANDS}
    made = {f"{name}.1": command_page(command, name) for command, name in names.items()}
    return {"overlapper.1": first_page(names), **made}


def first_page(names):
    """Return the page that leads to the others."""
    listed = "".join(
        f".TP\n\\fB{plain(name)}\\fR(1)\n{summary(command)}\n" for command, name in names.items()
    )
    return (
        head("overlapper", "find the overlaps of long DNA reads, and lay them out")
        + ".SH SYNOPSIS\n\\fBoverlapper\\fR COMMAND [ARGUMENTS] [OPTIONS]\n"
        + f".SH COMMANDS\n{listed}{CODES}"
    )


def command_page(command, name):
    """Return the page of one command."""
    function, parameters = commands.declared(command)
    arguments = " ".join(p.spelling.strip("`") for p in parameters if p.is_argument)
    words = f"overlapper {' '.join(cli.words_of(command))}"
    paragraphs = inspect.cleandoc(function.__doc__).split("\n\n")
    examples = cli.module_of(command).EXAMPLES.strip()
    return (
        head(name, plain(paragraphs[0]).rstrip(".").replace("\n", " "))
        + f".SH SYNOPSIS\n\\fB{words}\\fR {plain(arguments)} [OPTIONS]\n"
        + (".SH DESCRIPTION\n" + "\n.PP\n".join(map(plain, paragraphs[1:])) + "\n" if paragraphs[1:] else "")
        + "".join(
            f".SH {title}\n{''.join(map(entry, chosen))}"
            for title, chosen in (
                ("ARGUMENTS", [p for p in parameters if p.is_argument]),
                ("OPTIONS", [p for p in parameters if not p.is_argument]),
            )
            if chosen
        )
        + f".SH EXAMPLES\n.nf\n{plain(examples)}\n.fi\n{CODES}.SH SEE ALSO\n\\fBoverlapper\\fR(1)\n"
    )


def head(name, what):
    """Return what every page begins with."""
    title = f'.TH {name.upper()} 1 "" "overlapper {__version__}" "User Commands"'
    return f"{title}\n.SH NAME\n{plain(name)} \\- {what}\n"


def summary(command):
    """Return what a command does, on a line."""
    return plain(inspect.cleandoc(commands.declared(command)[0].__doc__).split("\n\n")[0].replace("\n", " "))


def entry(parameter):
    """Return an argument or option and its meaning."""
    default = parameter.default.strip("`")
    note = "" if not default else " (required)" if default == "required" else f" (default: {default})"
    spelling = parameter.spelling.replace("`", "")
    return f".TP\n\\fB{plain(spelling)}\\fR\n{plain((parameter.help or '') + note)}\n"


def plain(text):
    """Return text in which roff sees nothing special."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("``", "")
    return "\n".join(f"\\&{line}" if line[:1] in (".", "'") else line for line in text.splitlines())


def write():
    """Write the pages, and remove those of commands that are gone."""
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.1"):
        path.unlink()
    for name, text in pages().items():
        (FOLDER / name).write_text(text)
