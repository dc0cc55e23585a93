"""Run the command line as a user does, from any folder, installed or not."""

import contextlib
import io
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT

from tests.cli import forks

ROOT = Path(__file__).parents[2]
_FORKED = {"stdin", "stdout", "stderr", "input", "text", "check"}


def overlapper(*arguments, cwd=None, env=None, **options):
    """Run ``overlapper ARGUMENTS`` and return the completed process; standard output and error are bytes.

    It is a fork (`tests.cli.forks`), or a process of its own where the environment or options, those of
    `subprocess.run`, ask for what a fork does not have.
    """
    if options.keys() - _FORKED or forks.would_differ({**os.environ, **(env or {})}):
        return python("-m", "overlapper", *arguments, cwd=cwd, env=env, **options)
    words = [os.fspath(word) for word in arguments]
    return _forked(words, os.path.abspath(cwd or "."), _environment(env), **options)


def python(*arguments, env=None, **options):
    """Run Python so that it finds this copy of the package."""
    return run(sys.executable, *arguments, env=env, **options)


def run(*words, env=None, check=False, **options):
    """Run a program whose Python finds this copy of the package."""
    done = subprocess.run(words, env=_environment(env), **{"stdout": PIPE, "stderr": PIPE, **options})
    return _checked(done) if check else done


def _checked(done):
    """Return what was run, which must have ended well."""
    assert done.returncode == 0, done.stderr or done.stdout
    return done


def shell(script, **options):
    """Run bash, in which ``overlapper`` is this copy."""
    ours = f'overlapper() {{ "{sys.executable}" -m overlapper "$@"; }}'
    return run("bash", "-euo", "pipefail", "-c", f"{ours}\n{script}", **options)


def _environment(more):
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, **(more or {}), "PYTHONPATH": path}


def _forked(
    words, folder, environment, stdin=0, stdout=PIPE, stderr=PIPE, input=None, text=False, check=False
):
    """Do for a fork what `subprocess.run` does for a new process."""
    with ThreadPoolExecutor(3) as pool, contextlib.ExitStack() as held:

        def output(stream):
            """Return what the fork writes to, and a future of all that it wrote if that is a pipe."""
            if stream != PIPE:
                return stream, None
            ours, theirs = os.pipe()
            return held.enter_context(open(theirs, "wb")), pool.submit(_read, ours)

        (out, written), (err, said) = output(stdout), output(stderr)
        if input is not None:
            theirs, ours = os.pipe()
            stdin = held.enter_context(open(theirs, "rb"))
            pool.submit(_write, ours, input.encode() if text else input)
        nowhere = held.enter_context(open(os.devnull, "r+b", 0))
        streams = (
            nowhere if stream == DEVNULL else stream for stream in (stdin, out, out if err == STDOUT else err)
        )
        code = forks.run(
            words, folder, environment, [s if isinstance(s, int) else s.fileno() for s in streams]
        )
    contents = [future and _as_asked(future.result(), text) for future in (written, said)]
    done = subprocess.CompletedProcess(words, code, *contents)
    return _checked(done) if check else done


def _as_asked(content, text):
    return io.TextIOWrapper(io.BytesIO(content)).read() if text else content


def _read(pipe):
    with open(pipe, "rb") as file:
        return file.read()


def _write(pipe, content):
    with contextlib.suppress(BrokenPipeError), open(pipe, "wb") as file:
        file.write(content)
