"""Forks of a process that has loaded the command line, each as good as a new process of it.

Starting Python and loading numpy, numba and overlapper takes as long as most commands of the tests. Here one
process for each process of pytest loads them, runs nothing, starts no thread, and forks for every command.
The copy has the arguments, folder, environment and standard streams that it is sent, does what ``python -m
overlapper`` does from its first line to its exit code, and is gone: nothing of it can reach a later one.

What a fork does not test: the start itself, what is read from the environment there (`AT_START`), signals and
limits of that moment, other seeds of hashes from one command to the next, and memory from an empty process
on. Tests of these start Python (`tests.cli.runner.python`).
"""

import atexit
import functools
import importlib
import os
import pickle
import pkgutil
import runpy
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from multiprocessing.connection import Connection, Pipe
from multiprocessing.reduction import recv_handle, send_handle
from pathlib import Path

ROOT = Path(__file__).parents[2]
AT_START = ("PYTHON", "NUMBA", "OVERLAPPER", "LC_", "LANG", "LD_", "MALLOC", "TMP")
"""Beginnings of variables that are read while Python, numba and overlapper start."""
_ENVIRONMENT = dict(os.environ)
_one_at_a_time = threading.Lock()


def would_differ(environment):
    """Tell whether an environment differs from that of these tests in what is read at the start."""
    changed = dict(_ENVIRONMENT.items() ^ environment.items())
    return any(name.startswith(AT_START) for name in changed)


def run(words, folder, environment, streams):
    """Run ``overlapper WORDS`` in a fork, with descriptors as its standard streams; return its exit code."""
    with _one_at_a_time:
        server = _server()
        server.send((words, folder, environment))
        for stream in streams:
            send_handle(server, stream, None)
        return server.recv()


@functools.cache
def _server():
    """Start the process that forks; it ends with this one."""
    ours, theirs = Pipe()
    words = [sys.executable, "-m", __name__, str(theirs.fileno())]
    path = os.pathsep.join(filter(None, [str(ROOT), _ENVIRONMENT.get("PYTHONPATH")]))
    environment = {**_ENVIRONMENT, "PYTHONPATH": path}
    process = subprocess.Popen(words, pass_fds=[theirs.fileno()], cwd=ROOT, env=environment)
    theirs.close()

    def end():
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def _serve(requests):
    _load()
    while True:
        try:
            words, folder, environment = requests.recv()
            streams = [recv_handle(requests) for _ in range(3)]
        except EOFError:
            return
        copy = os.fork()
        if copy == 0:
            requests.close()
            _become(words, folder, environment, streams)
        for stream in streams:
            os.close(stream)
        requests.send(os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]))


def _load():
    """Import what commands import, without numba's compiler, as they do."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from overlapper.runtime.compile.startup import load_numba

    load_numba()
    import overlapper

    for module in pkgutil.walk_packages(overlapper.__path__, "overlapper."):
        if "gpu" not in module.name and "cuda" not in module.name and module.name != "overlapper.__main__":
            importlib.import_module(module.name)
    with tempfile.TemporaryDirectory() as folder:
        kernels = Path(folder, "kernels")
        record = "import sys; from tests.cli.forks import record_kernels; record_kernels(*sys.argv[1:])"
        # A GPU must not be found: kernels of CPUs alone are loaded before a fork.
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "CUDA_VISIBLE_DEVICES": ""}
        words = [sys.executable, "-c", record, str(kernels)]
        subprocess.run(words, cwd=folder, env=environment, check=True, capture_output=True)
        for module, name, types in pickle.loads(kernels.read_bytes()):
            getattr(importlib.import_module(module), name).compile(types)  # loads it
    assert len(list(Path("/proc/self/task").glob("*"))) < 2, "a fork would lack the other threads"


def record_kernels(file):
    """Run every command once; write which kernels they took from the cache, or compiled."""
    from overlapper.cli.compile import ASSEMBLY, OTHERS, READS
    from overlapper.runtime.compile.cache import KernelCache
    from overlapper.runtime.compile.startup import load_numba
    from tests.cli import within

    load_numba()
    load, used = KernelCache.load_overload, {}

    def noted(cache, signature, target):
        function = cache._function
        if "<locals>" not in function.__qualname__:
            used[function.__module__, function.__name__, signature] = True
        return load(cache, signature, target)

    KernelCache.load_overload = noted
    for line in (*READS, *ASSEMBLY, *OTHERS):
        assert within.main(line.split()) == 0, line
    Path(file).write_bytes(pickle.dumps(list(used)))


def _become(words, folder, environment, streams):
    """Be the process of a command, to its end."""
    from overlapper import console
    from overlapper.cli import footer

    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode, encoding=stream.encoding, errors=stream.errors, closefd=False)
        for number, (mode, stream) in enumerate([("r", sys.stdin), ("w", sys.stdout), ("w", sys.stderr)])
    )
    sys.stderr.reconfigure(line_buffering=True)
    footer.STARTED = time.time()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    if not sys.flags.safe_path:
        sys.path[0] = folder
    sys.argv = ["overlapper", *words]
    try:
        runpy.run_module("overlapper", run_name="__main__", alter_sys=True)
    except SystemExit:
        pass  # the console has its code
    except BaseException:
        traceback.print_exc()
    # The console's exit, the last one of a new process, would come before those of what is loaded here.
    threading._shutdown()
    atexit.unregister(console._exit)
    atexit._run_exitfuncs()
    console._exit()


if __name__ == "__main__":
    _serve(Connection(int(sys.argv[1])))
