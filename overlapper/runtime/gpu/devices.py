"""The CPU and GPUs of this machine: which are usable, and what is missing where one is not."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from overlapper.errors import DeviceError, MissingExtraError, ParameterError
from overlapper.runtime.messages import counted
from overlapper.runtime.threads import available_threads

if TYPE_CHECKING:
    from overlapper.runtime.gpu.driver import Properties


@dataclasses.dataclass(frozen=True)
class Device:
    """A processor that extensions can run on."""

    name: str
    """As ``--device`` takes it: ``cpu``, ``cuda:0``, ..."""
    model: str
    """What it is."""
    memory: int = 0
    """Bytes of its own memory; 0 for the CPU."""
    problem: str = ""
    """Why it cannot be used; empty if it can."""

    def __str__(self) -> str:
        return f"{self.name} ({self.model})"

    @property
    def number(self) -> int:
        """Number of a GPU, -1 for the CPU."""
        return int(self.name.partition(":")[2] or -1)


def named(devices: Sequence[Device], threads: int) -> str:
    """Return devices as messages name them, the CPU with the threads that are used of it."""
    used = f"cpu ({counted(threads, 'thread')})"
    return ", ".join(used if device.name == "cpu" else str(device) for device in devices)


def start_driver(text: str) -> None:
    """Start the GPUs that ``--device`` may mean in a thread, so that they are ready when they are selected.

    It takes some tenths of a second, without the lock. What fails here is told by `select_devices`.
    """
    if text == "cpu" or importlib.util.find_spec("numba_cuda") is None:
        return

    def start() -> None:
        from overlapper.runtime.gpu import driver

        with contextlib.suppress(RuntimeError):
            numbers = range(driver.count())
            for number in numbers:  # what is asked for first; it would have to wait for a GPU that starts
                driver.properties(number)
            for number in numbers:
                if text in ("auto", "cuda") or str(number) in text.partition(":")[2].split(","):
                    driver.start(number)

    threading.Thread(target=start).start()


def end_gpus(names: Sequence[str]) -> None:
    """End the GPUs that this process no longer needs, in a thread each.

    At its end it would do so one after the other, in some tenths of a second.

    Parameters
    ----------
    names : sequence of str
        As `Device` has them; those of the CPU stay as they are.
    """
    numbers = [int(name.partition(":")[2]) for name in names if name != "cpu"]
    if numbers:
        from overlapper.runtime.gpu import driver

        for number in numbers:
            threading.Thread(target=driver.end, args=(number,)).start()


def list_devices() -> list[Device]:
    """Return the CPU and every GPU; without any GPU, a ``cuda`` whose problem says what is missing."""
    try:
        return [_cpu(), *_gpus()]
    except (DeviceError, MissingExtraError) as error:
        return [_cpu(), Device("cuda", "NVIDIA GPU", problem=str(error))]


def select_devices(text: str) -> list[Device]:
    """Return the devices that ``--device`` names.

    Parameters
    ----------
    text : str
        ``cpu``; ``cuda`` for every usable GPU; ``cuda:0,2`` for some of them; ``auto`` for every usable GPU,
        or the CPU if there is none.

    Raises
    ------
    ParameterError
        When the text is none of these.
    DeviceError, MissingExtraError
        When a GPU that was asked for is missing or unusable.
    """
    kind, _, numbers = text.partition(":")
    if kind not in ("cpu", "cuda", "auto") or (numbers and kind != "cuda"):
        raise ParameterError(f"device is {text!r}, expected cpu, cuda, cuda:0,2 (numbers of GPUs) or auto")
    if kind == "cpu":
        return [_cpu()]
    if kind == "auto":
        usable = [device for device in list_devices() if not device.problem]
        return usable[1:] or usable
    gpus = _gpus()
    if not numbers:
        usable = [gpu for gpu in gpus if not gpu.problem]
        if not usable:
            raise DeviceError(f"no GPU can be used: {gpus[0].name}: {gpus[0].problem}")
        return usable
    return [_numbered(gpus, number) for number in dict.fromkeys(numbers.split(","))]


def _cpu() -> Device:
    return Device("cpu", counted(available_threads(), "thread"))


def _numbered(gpus: list[Device], number: str) -> Device:
    if not number.isdecimal():
        raise ParameterError(f"device cuda:{number}: expected numbers of GPUs, such as cuda:0,2")
    if int(number) >= len(gpus):
        raise DeviceError(f"GPU {number} was asked for, but there are {len(gpus)}, numbered from 0")
    gpu = gpus[int(number)]
    if gpu.problem:
        raise DeviceError(f"{gpu.name} cannot be used: {gpu.problem}")
    return gpu


_OLDEST = (8, 0)
"""The least compute capability that the kernels are compiled for."""


def _gpus() -> list[Device]:
    """Return all GPUs, usable or not."""
    if importlib.util.find_spec("numba_cuda") is None:
        raise MissingExtraError("numba-cuda", "Computing on NVIDIA GPUs")
    from overlapper.runtime.gpu import driver

    try:
        found = driver.count()
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise DeviceError(
            f"the NVIDIA driver does not answer ({reason}). Install or repair the driver, check with "
            "nvidia-smi, or run with --device cpu"
        ) from None
    if not found:
        raise DeviceError(
            "the NVIDIA driver shows no GPU. Check CUDA_VISIBLE_DEVICES, or run with --device cpu"
        )
    return [_described(number, driver.properties(number)) for number in range(found)]


def _described(number: int, gpu: Properties) -> Device:
    major, minor = gpu.capability
    problem = ""
    if gpu.capability < _OLDEST:
        problem = (
            f"its compute capability is {major}.{minor}, and at least {_OLDEST[0]}.{_OLDEST[1]} is needed"
        )
    return Device(f"cuda:{number}", f"{gpu.name}, compute capability {major}.{minor}", gpu.memory, problem)
