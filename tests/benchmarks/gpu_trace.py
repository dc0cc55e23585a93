"""Who does what when, in a run of the program on one or more GPUs.

Run ``python -m tests.benchmarks.gpu_trace overlap READS --extender xdrop --device cuda -o out.paf``: behind
the name of the module stands a command line of the program, best run once before, for kernels to be compiled.
Printed are, in ms from the start of the process: when functions that take long began and ended, when each GPU
computed, by tenths of a second, what each kernel took (side by side with others), and when the process began
to end and was gone.
"""

import functools
import importlib.abc
import importlib.machinery
import itertools
import json
import math
import subprocess
import sys
import tempfile
import threading
import time
from operator import itemgetter
from pathlib import Path

TRACED = {
    "overlapper.runtime.compile.startup": ["load_numba"],
    "overlapper.cli.outputs": ["check_files"],
    "overlapper.cli.in_memory": ["run_in_memory"],
    "overlapper.runtime.gpu.devices": ["select_devices"],
    "overlapper.io.fastx": ["read_fastx", "FastxParts.together"],
    "overlapper.io.outputs": ["OutputFile.__exit__"],
    "overlapper.io.paf": ["PafWriter.write"],
    "overlapper.sketch.canonical": ["canonical_order", "in_order"],
    "overlapper.sketch.page_chains": ["partition"],
    "overlapper.sketch.seed_index": ["SeedIndex.build"],
    "overlapper.sketch.grouped": ["SeedingMinimizers.choose"],
    "overlapper.sketch.seed_lists": ["HostSeedLists._list"],
    "overlapper.sketch.seed_index_gpu": ["build", "_room_for"],
    "overlapper.sketch.seed_lists_gpu": ["IndexCopies._copied"],
    "overlapper.kernels.seeds.cuda.seed_index": ["group_by_hash", "_minimizers"],
    "overlapper.kernels.seeds.cuda.seed_lists": ["pack_occurrences", "list_by_read"],
    "overlapper.extend.from_seeds_gpu": ["FromSeedsOnGpus.find"],
    "overlapper.extend.xdrop_gpu": ["XdropOnGpus._overlaps"],
    "overlapper.candidates.dsoft_gpu": ["DsoftOnGpus.work", "DsoftOnGpus.find_each"],
    "overlapper.extend.selection": ["Selection.add", "Selection.decide", "Selection._chosen"],
    "overlapper.overlap.presets": ["preset_params", "with_error_rate"],
    "overlapper.candidates.dsoft": ["DsoftFinder.prepare", "DsoftFinder.find"],
    "overlapper.tables.overlaps": ["pair_order", "Intervals.gather"],
    "overlapper.correct.read_rounds": ["vote"],
    "overlapper.overlap.pipeline": ["run", "find"],
    "overlapper.overlap.tiles": ["choose_seeds", "Tiles.load"],
    "overlapper.overlap.found": ["FoundOverlaps.of_whole", "FoundOverlaps.of_tiles"],
    "overlapper.extend.chain": ["overlaps_of_chains", "with_typical"],
    "overlapper.overlap.tile": ["Extension._extended", "Extension._judged"],
    "overlapper.gpu.gpus": ["Gpus.__init__", "Gpus.close", "Gpus._open", "Slot.run"],
    "overlapper.gpu.opening": ["Opening._open", "Opening._close"],
    "overlapper.runtime.gpu.cubins": ["_sources_digest"],
    "overlapper.runtime.gpu.driver": [
        "count", "start", "end", "properties", "Block.__init__", "pinned_array", "load_kernel",
        "launch_kernel",
    ],
    "overlapper.runtime.gpu.launch": ["Kernel.launch"],
    "overlapper.kernels.common.cuda.walks": ["upload_reads"],
}  # fmt: skip
"""What is traced, by module."""
LEAST = 0.004
"""Seconds of a call from which it is shown by itself."""
MOST_SHOWN = 8
"""Calls of a function; where there are more they are shown together."""
BIN = 0.1
"""Seconds for which the share that a GPU computed is shown."""


class Trace(importlib.abc.MetaPathFinder):
    """What was called when, of the functions to trace, which are wrapped when their modules are imported.

    Attributes
    ----------
    calls : list of (str, str, float, float)
        Function, thread, begin and end, in seconds of the system's monotonic clock.
    kernels : dict of int to list of (float, float, str)
        Begin, end and name of each kernel, by GPU; events wait in a stream, so they may begin too early.
    """

    def __init__(self):
        self.calls = []
        self.kernels = {}
        self._launched = {}
        self._thread = threading.local()

    def find_spec(self, name, path, target=None):
        """Find a module as ever, and have it wrapped when it has been run."""
        if name not in TRACED:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        run = spec.loader.exec_module

        def run_and_wrap(module):
            run(module)
            for function in TRACED[name]:
                self._wrap(module, function)

        spec.loader.exec_module = run_and_wrap
        return spec

    def _wrap(self, module, function):
        *owners, name = function.split(".")
        owner = functools.reduce(getattr, owners, module)
        traced = vars(owner)[name]
        if isinstance(traced, classmethod):
            setattr(owner, name, classmethod(self._timed(function, traced.__func__)))
        elif function == "launch_kernel":
            setattr(owner, name, self._with_events(module, traced))
        elif function == "Kernel.launch":
            setattr(owner, name, self._named(traced))
        elif function == "Gpus.close":
            setattr(owner, name, self._timed(function, self._after_kernels(traced)))
        else:
            setattr(owner, name, self._timed(function, traced))

    def _timed(self, name, function):
        @functools.wraps(function)
        def timed(*arguments, **named):
            begin = time.monotonic()
            try:
                return function(*arguments, **named)
            finally:
                which = f"{name} GPU {arguments[0].gpu}" if name == "Slot.run" else name
                self.calls.append((which, threading.current_thread().name, begin, time.monotonic()))

        return timed

    def _named(self, launch):
        def launch_by_name(kernel, *arguments):
            constants = "x".join(map(str, kernel.source.constants[:2]))
            self._thread.kernel = f"{kernel.source.name} {constants}"
            launch(kernel, *arguments)

        return launch_by_name

    def _with_events(self, driver, launch):
        def launch_between_events(kernel, blocks, threads, stream, parameters):
            number = driver.current()
            if number not in self._launched:
                zero = driver.Event(stream)
                zero.seconds_since(zero)
                self._launched[number] = [(zero, time.monotonic())]
            before = driver.Event(stream)
            launch(kernel, blocks, threads, stream, parameters)
            self._launched[number].append((before, driver.Event(stream), self._thread.kernel))

        return launch_between_events

    def _after_kernels(self, function):
        def read_events(*arguments):
            from overlapper.runtime.gpu import driver

            for number, ((zero, then), *pairs) in self._launched.items():
                with driver.use(number):
                    self.kernels.setdefault(number, []).extend(
                        (then + before.seconds_since(zero), then + after.seconds_since(zero), name)
                        for before, after, name in pairs
                    )
            self._launched.clear()
            return function(*arguments)

        return read_events


def union(intervals):
    """Return the same moments as intervals that do not meet, by their beginnings."""
    joined = []
    for begin, end in sorted(intervals):
        if joined and begin <= joined[-1][1]:
            joined[-1][1] = max(end, joined[-1][1])
        else:
            joined.append([begin, end])
    return joined


def show(start, ending, calls, kernels, end):
    """Print a trace; all moments are of the same clock."""

    def ms(moment):
        return f"{1000 * (moment - start):7.0f}"

    lines = []
    by_name = {}
    for name, thread, begin, finish in calls:
        by_name.setdefault(name, []).append((begin, finish, thread))
    for name, found in by_name.items():
        long = [call for call in found if call[1] - call[0] >= LEAST]
        if len(long) <= MOST_SHOWN:
            lines += [(begin, finish, name, thread) for begin, finish, thread in long]
        else:
            inside = sum(finish - begin for begin, finish, _ in found)
            told = f"{len(found)} calls, {1000 * inside:.0f} ms in all"
            lines.append((min(c[0] for c in found), max(c[1] for c in found), name, told))
    for begin, finish, name, note in sorted(lines):
        print(f"{ms(begin)} {ms(finish)} {1000 * (finish - begin):6.0f}  {name}  ({note})")
    for number, found in sorted(kernels.items()):
        busy = union((begin, finish) for begin, finish, _ in found)
        total = sum(finish - begin for begin, finish in busy)
        first, last = busy[0][0], busy[-1][1]
        print(f"{ms(first)} {ms(last)} {1000 * total:6.0f}  kernels of GPU {number}, {len(found)}")
        shares = []
        for moment in (first + BIN * n for n in range(math.ceil((last - first) / BIN))):
            inside = sum(max(0, min(f, moment + BIN) - max(b, moment)) for b, f in busy)
            shares.append(f"{100 * inside / BIN:.0f}")
        print("        % of each tenth of a second:", *shares)
        for name, parts in itertools.groupby(sorted(found, key=itemgetter(2)), key=itemgetter(2)):
            seconds = [finish - begin for begin, finish, _ in parts]
            print(f"        {name:28}{len(seconds):7} launches{1000 * sum(seconds):9.0f} ms")
    print(f"{ms(ending)} {ms(end)} {1000 * (end - ending):6.0f}  the end of the process", flush=True)


def child(path, arguments):
    """Run the program in this process, and keep its trace in a file."""
    trace = Trace()
    sys.meta_path.insert(0, trace)

    from overlapper import console

    end = console._exit

    def keep_and_end():
        now = time.monotonic()
        Path(path).write_text(json.dumps([now, trace.calls, trace.kernels]))
        end()

    console._exit = keep_and_end
    sys.argv = ["overlapper", *arguments]
    console.main()


def main():
    if sys.argv[1] == "--child":
        child(sys.argv[2], sys.argv[3:])
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        start = time.monotonic()
        subprocess.run([sys.executable, "-m", __spec__.name, "--child", path, *sys.argv[1:]], check=True)
        end = time.monotonic()
        show(start, *json.loads(path.read_text()), end)


if __name__ == "__main__":
    main()
