"""overlapper devices: what a run can use, and why the rest cannot be used."""

from __future__ import annotations

EXAMPLES = """
overlapper devices | cut -f 1,3
"""


def devices() -> None:
    """List processors that can be used, and what others lack."""
    from overlapper.runtime.gpu.devices import list_devices

    for device in list_devices():
        memory = f", {device.memory / 2**30:.0f} GiB" if device.memory else ""
        verdict = f"not usable: {device.problem}" if device.problem else "usable"
        print(f"{device.name}\t{device.model}{memory}\t{verdict}")
