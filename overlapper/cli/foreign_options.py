"""Options of minimap2, hifiasm, Flye or another command, typed by habit, and what does here what they do."""

from __future__ import annotations

_ALL = {
    "-K": "--memory bounds what a run takes",
    "-I": "--memory bounds what a run takes",
    "--nano-hq": "reads are an argument, their error rate is found by --preset auto, the default",
    "--nano-raw": "reads are an argument, their kind is --preset ont",
    "--nano-corr": "reads are an argument, their kind is --preset hifi",
    "--pacbio-raw": "reads are an argument, their kind is --preset clr",
    "--pacbio-hifi": "reads are an argument, their kind is --preset hifi",
    "--ont": "the error rate of reads is found by --preset auto, the default",
    "--hifi": "the kind of reads is --preset hifi",
    "--out-dir": "the output is -o",
    "--genome-size": "the size of the genome is not needed",
}
_OF_ONE = {
    "overlap": {
        "-c": "--extender gact writes CIGARs",
        "-a": "overlaps are PAF or Parquet; overlapper map writes SAM",
        "-X": "each pair is reported once, and no read with itself, without being asked",
        "-D": "no read is overlapped with itself, without being asked",
        "-P": "all overlaps are reported, unless --best says otherwise",
        "-N": "--best and --best-of-pair bound how many are reported",
        "-m": "--min-overlap is the shortest overlap reported",
    },
    "map": {
        "-c": "PAF has CIGARs without being asked",
        "-R": "--read-group has the read group",
        "-N": "--secondary bounds how many are reported",
        "--MD": "samtools calmd adds MD",
    },
    "polish": {"--device": "unitigs are polished by the CPU alone"},
    "evaluate": {"--truth": "the placements come before the overlaps: TRUTH PAF"},
    "assemble": {"-g": "the size of the genome is not needed"},
}


def instead_of(option: str, command: str) -> str:
    """Return what does here what an option of another program does; empty where nothing is known of it."""
    return _OF_ONE.get(command, {}).get(option) or _ALL.get(option, "")
