"""Run the command line as a user does, from any folder, installed or not."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def overlapper(*arguments, cwd=None, **options):
    """Run ``overlapper ARGUMENTS`` and return the completed process; standard output and error are bytes."""
    return python("-m", "overlapper", *arguments, cwd=cwd, **options)


def python(*arguments, env=None, **options):
    """Run Python so that it finds this copy of the package."""
    return run(sys.executable, *arguments, env=env, **options)


def run(*words, env=None, **options):
    """Run a program whose Python finds this copy of the package."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        words,
        env={**os.environ, **(env or {}), "PYTHONPATH": path},
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )


def shell(script, **options):
    """Run bash, in which ``overlapper`` is this copy."""
    ours = f'overlapper() {{ "{sys.executable}" -m overlapper "$@"; }}'
    return run("bash", "-euo", "pipefail", "-c", f"{ours}\n{script}", **options)
