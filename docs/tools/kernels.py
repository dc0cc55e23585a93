"""Write the list of kernels that the first run of a command compiles, ``overlapper/cli/first_kernels.toml``.

Run ``python -m docs.tools.kernels`` after changing the arguments of a kernel; a test compares the two.
"""

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from overlapper.cli import main
from overlapper.cli.first_kernels import LISTED, PARTS, WHOLE, kernel_of, spelled
from overlapper.runtime.compile.startup import load_numba

ROOT = str(Path(__file__).parents[2])
READS = (
    "simulate --genome-size 30k --coverage 12 -p ont-r9 -o reads.fq --reference-out genome.fa -q",
    "simulate --reference genome.fa --coverage 50 -p ont-r9 -o deep.fq -q",
    "simulate --reference genome.fa --coverage 50 -p ont-r10 -o accurate.fq -q",
)
"""The second and third are so many that those which vote have to be chosen."""
RUNS = {
    "overlap_chain": "overlap reads.fq -o overlaps.paf -t 1 -q",
    "overlap_xdrop": "overlap reads.fq --extender xdrop --device cpu -o xdrop.paf -t 1 -q",
    "overlap_gact": "overlap reads.fq --extender gact --device cpu -o gact.paf -t 1 -q",
    "layout": "layout reads.fq overlaps.paf -o layout.gfa --fasta unitigs.fa -t 1 -q",
    "correct": "correct deep.fq --device cpu -o corrected.fq -t 1 -q",
    "polish": "polish unitigs.fa deep.fq -o polished.fa -t 1 -q",
    "assemble": "assemble reads.fq --device cpu --correct always -o assembled -t 1 -q",
    "assemble_accurate": "assemble accurate.fq --device cpu -o accurate -t 1 -q",
    "assemble_phased": "assemble accurate.fq --haplotypes phase --device cpu -o phased -t 1 -q",
    "map": "map genome.fa reads.fq --device cpu -o mapped.paf -t 1 -q",
    "align": "align reads.fq reads.fq -o aligned.paf -t 1 -q",
}
"""An ordinary run of every command whose kernels take long to compile."""
COMPILED = "compiled"
"""What `record` prints when something was not there yet."""


def listed():
    """Return the text of the list."""
    sections = [f"{command} = [\n{lines}]\n" for command, lines in _recorded()]
    return "\n".join(["# Written by python -m docs.tools.kernels.", *sections])


def _recorded():
    """Yield every command and the lines of its kernels."""
    script = "from docs.tools.kernels import record; record()"
    with tempfile.TemporaryDirectory() as folder:
        for words in READS:
            _python(folder, "-m", "overlapper", *words.split())
        for command, words in RUNS.items():
            # A kernel that another one brings along is not taken from the cache while something compiles.
            lines = _run(script, words, folder)
            if COMPILED in lines:
                # Stages that the first run kept would spare the second one kernels.
                shutil.rmtree(Path(folder) / _output_of(words), ignore_errors=True)
                lines = _run(script, words, folder)
            yield command, "".join(f"  '{line}',\n" for line in _with_parts(lines, folder))


def _output_of(words):
    """Return the file or folder that a command writes."""
    words = words.split()
    return words[words.index("-o") + 1]


def _with_parts(lines, folder):
    """Return lines with those of what the longest kernel calls before its own."""
    for line in lines:
        if line.startswith(WHOLE):
            yield from _parts(line, folder)
        yield line


@functools.cache
def _parts(line, folder):
    """Return the lines of the parts of a kernel: of what it calls as it is compiled, not optimised."""
    script = "from docs.tools.kernels import record_parts; record_parts()"
    anew = {"NUMBA_OPT": "0", "NUMBA_CACHE_DIR": f"{folder}/kept"}
    return _python(folder, "-c", script, line, **anew).splitlines()


def _run(script, words, folder):
    """Return what a command printed, each line once."""
    return list(dict.fromkeys(_python(folder, "-c", script, *words.split()).splitlines()))


def _python(folder, *words, **variables):
    """Return what Python, which finds this copy of the package, prints in a folder."""
    environment = {**os.environ, "PYTHONPATH": ROOT, **variables}
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=folder, env=environment, check=True, capture_output=True, text=True
    ).stdout


def record():
    """Run a command, and print the kernels that it calls itself when it takes them from the cache."""
    load_numba()
    from numba.core import event

    from overlapper.runtime.compile.cache import KernelCache

    load, compiling = KernelCache.load_overload, []

    class Compiling(event.Listener):
        def on_start(self, _):
            compiling.append(True)
            print(COMPILED)

        def on_end(self, _):
            compiling.pop()

    def loaded(cache, signature, target):
        if not compiling:
            line = spelled(cache._function, signature)
            assert kernel_of(line)[1] == signature, line
            print(line)
        return load(cache, signature, target)

    KernelCache.load_overload = loaded
    with event.install_listener("numba:compile", Compiling()):
        main()


def record_parts():
    """Compile a kernel, and print those of `PARTS` that it calls."""
    load_numba()
    from overlapper.runtime.compile.cache import KernelCache

    save = KernelCache.save_overload

    def saved(cache, signature, compiled):
        line = spelled(cache._function, signature, for_kernels=True)
        if line.startswith(PARTS):
            assert kernel_of(line)[1] == signature, line
            print(line)
        save(cache, signature, compiled)

    KernelCache.save_overload = saved
    kernel, types = kernel_of(sys.argv[1])
    kernel.compile(types)


if __name__ == "__main__":
    LISTED.write_text(listed())
