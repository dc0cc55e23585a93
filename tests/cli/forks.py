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
import threading
import time
import traceback
from multiprocessing.connection import Connection, Pipe
from multiprocessing.reduction import recv_handle, send_handle
from pathlib import Path

ROOT = Path(__file__).parents[2]
AT_START = ("PYTHON", "NUMBA", "OVERLAPPER", "LC_", "LANG", "LD_", "MALLOC", "TMP")
"""Beginnings of variables that are read while Python, numba and overlapper start."""
SET_BY_COMMANDS = {"NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"}
"""Those of them that every command sets, one within this process, too: to the same."""
_ENVIRONMENT = dict(os.environ)
_one_at_a_time = threading.Lock()


def would_differ(environment):
    """Tell whether an environment differs from that of these tests in what is read at the start."""
    changed = dict(_ENVIRONMENT.items() ^ environment.items())
    return any(name.startswith(AT_START) for name in changed.keys() - SET_BY_COMMANDS)


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
    for kernel, types in kept_kernels():
        kernel.compile(types)  # loads it
    assert len(list(Path("/proc/self/task").glob("*"))) < 2, "a fork would lack the other threads"


def kept_kernels():
    """Yield kernels of CPUs that need not be compiled, with types of their arguments."""
    from overlapper.runtime.compile import places
    from overlapper.runtime.compile.cache import KernelCache
    from overlapper.runtime.compile.processor import common_processor, spelled

    processor = spelled(common_processor())
    for folder in places.of_kernels().read:
        for path in folder.glob("*.nbc"):
            try:
                _, described, _, signature, *_ = pickle.loads(path.read_bytes()[places.DIGEST_BYTES :])
            except (AttributeError, ImportError):  # of sources that were others
                continue
            kernel = getattr(sys.modules.get(described.modname), described.qualname, None)
            cache = getattr(kernel, "_cache", None)
            if isinstance(cache, KernelCache):
                name, made_from = cache._name_and_origin(signature, processor)
                if name == path.name and places.read(folder, name, made_from) is not None:
                    yield kernel, signature.args


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
