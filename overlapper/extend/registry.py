"""The registry of extenders: a new one is a file here and lines below; see CONTRIBUTING.md for the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from overlapper.errors import ParameterError
from overlapper.params.stages import Params
from overlapper.registry import registered
from overlapper.runtime.gpu.devices import Device, select_devices
from overlapper.tables import Candidates, Overlaps, Reads

if TYPE_CHECKING:
    from overlapper.gpu.gpus import Gpus

Extender = Callable[[Reads, Candidates, Any, int], tuple[Overlaps, dict[str, int]]]
"""``extend(reads, candidates, params, threads)`` returns overlaps, unclassified and in the order of the
candidates, and how many candidates were dropped, by reason. ``params`` is the section of `Params` of the
extender's name, or None. The result does not depend on ``threads``. An extender that has kernels for GPUs
also takes ``gpus``, the `Gpus` that hold the reads."""

EXTENDERS = {
    "chain": "overlapper.extend.chain:extend",
    "xdrop": "overlapper.extend.xdrop:extend",
    "gact": "overlapper.extend.gact:extend",
    "exact": "overlapper.extend.exact:extend",
}
ALIGNING = ("xdrop", "gact")
"""Extenders whose score is that of an alignment, so that the adaptive threshold applies."""
ON_GPUS = {"xdrop": 128_000, "gact": 16_000}
"""Extenders of batches of candidates on GPUs, with the most candidates of a batch. A batch costs launches and
copies whatever its size, but CIGARs take much memory."""
FROM_SEEDS_ON_GPUS = "chain"
"""The extender that always finds its candidates on the GPU, too (`overlapper.extend.chain_gpu`)."""
BASES_A_THREAD = 10_000_000
"""Bases of the reads for each thread from which on `FROM_SEEDS_ON_GPUS` uses GPUs by default. Compared with
16 threads one H100 is as fast on 141 Mb of R9 reads, and faster on 167 Mb of CLR and 300 Mb of R10
(``docs/notes/gpu.md``)."""


def extender(name: str, gpus: Gpus | Any | None = None) -> Extender:
    """Return an extender by name, bound to the GPUs to run on, if any."""
    extend = registered("extender", name, EXTENDERS)
    return partial(extend, gpus=gpus) if gpus else extend


def device_for(name: str, device: str, bases: int, threads: int) -> str:
    """Resolve ``auto`` to ``cpu`` for read sets too small to gain from a GPU.

    Parameters
    ----------
    name : str
        Of the extender.
    device : str
        As `extending_devices` takes it.
    bases : int
        Of all reads.
    """
    few = name == FROM_SEEDS_ON_GPUS and bases < BASES_A_THREAD * threads
    return "cpu" if device == "auto" and few else device


def device_within(changes: Mapping[str, Any] | None, device: str) -> str:
    """Return the device for overlaps within another command: ``cpu`` if the extender has no GPU kernels.

    Parameters
    ----------
    changes : mapping, optional
        Parameters that differ from the preset, as `overlapper.find_overlaps` takes them.
    device : str
        What the command was asked to run on, as `extending_devices` takes it.
    """
    name = (changes or {}).get("extender", Params.extender)
    return device if name in (*ON_GPUS, FROM_SEEDS_ON_GPUS) else "cpu"


def extending_devices(name: str, device: str) -> list[Device]:
    """Return the devices to run an extender on.

    Parameters
    ----------
    name : str
        Of the extender.
    device : str
        As `select_devices` takes it; ``auto`` is the CPU for an extender that has no kernels for GPUs.

    Raises
    ------
    ParameterError
        When the extender cannot run on GPUs that were asked for, or no such device is known.
    DeviceError, MissingExtraError
        When a GPU that was asked for is missing or unusable.
    """
    on_gpus = (*ON_GPUS, FROM_SEEDS_ON_GPUS)
    if name in on_gpus:
        return select_devices(device)
    if device == "auto":
        return select_devices("cpu")
    devices = select_devices(device)
    if devices[0].name != "cpu":
        raise ParameterError(
            f"device is {device!r}, but the extender {name} runs on the CPU alone. Use --device cpu or auto, "
            f"or --extender {' or '.join(on_gpus)}"
        )
    return devices
