"""Mapping on a GPU beside the CPU of the same machine, from file to file, in alternating runs.

    python -m tests.benchmarks.map_gpu REFERENCE READS --preset ont --extenders edits,gact

Of each extender and device, the fastest run: wall-clock seconds, CPU seconds and peak memory of the process,
and seconds of the stages, which all threads together spent. The files of both devices are compared.
"""

from __future__ import annotations

import argparse
import filecmp
import json
import sys
import tempfile

from overlapper.mapping.extenders import ON_GPUS
from tests.benchmarks.overlap import measure


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("reference")
    parser.add_argument("reads")
    parser.add_argument("--preset", default="ont")
    parser.add_argument("--extenders", default=",".join(ON_GPUS))
    parser.add_argument("--devices", default="cpu,cuda:0", help="commas between them, but for cuda:0,1")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    devices = arguments.devices.replace(",cuda", " cuda").split()
    print(f"{'extender':12} {'device':8} {'wall s':>8} {'CPU s':>8} {'peak MB':>8}  stages")
    with tempfile.TemporaryDirectory() as folder:
        for extender in arguments.extenders.split(","):
            best: dict[str, tuple] = {}
            for run in range(arguments.runs):
                for device in devices:
                    output, stats = f"{folder}/{device}.paf", f"{folder}/stats.json"
                    command = [
                        sys.executable, "-m", "overlapper", "map", arguments.reference, arguments.reads, "-q",
                        "--preset", arguments.preset, "--extender", extender, "--device", device,
                        "-o", output, "--stats", stats,
                    ]  # fmt: skip
                    costs = measure(command, f"{folder}/out")
                    with open(stats) as file:
                        document = json.load(file)
                    stages = {
                        n: round(s, 2)
                        for n, s in {**document["seconds"], **document["thread_seconds"]}.items()
                    }
                    if device not in best or costs < best[device][0]:
                        best[device] = (costs, stages)
                    if run == 0 and not filecmp.cmp(f"{folder}/{devices[0]}.paf", output, shallow=False):
                        sys.exit(f"{extender}: {device} does not write what {devices[0]} does")
            for device, ((wall, cpu, memory), stages) in best.items():
                print(f"{extender:12} {device:8} {wall:8.2f} {cpu:8.2f} {memory:8.0f}  {stages}", flush=True)


if __name__ == "__main__":
    main()
