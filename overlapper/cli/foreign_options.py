"""Options of minimap2, hifiasm, Flye or another command, typed by habit, and what does here what they do."""

from __future__ import annotations

_ALL = {
    "-K": "--memory bounds what a run takes",
    "-I": "--memory bounds what a run takes",
    "--nano-hq": "reads are an argument, and --preset auto, the default, estimates their error rate",
    "--nano-raw": "reads are an argument, and --preset ont names their technology",
    "--nano-corr": "reads are an argument, and --preset hifi names their technology",
    "--pacbio-raw": "reads are an argument, and --preset clr names their technology",
    "--pacbio-hifi": "reads are an argument, and --preset hifi names their technology",
    "--ont": "--preset auto, the default, estimates the error rate",
    "--hifi": "--preset hifi names the technology",
    "--out-dir": "the output is -o",
    "--genome-size": "the size of the genome is not needed",
}
_OF_ONE = {
    "overlap": {
        "-c": "--extender gact writes CIGARs",
        "-a": "overlaps are PAF or Parquet; overlapper map writes SAM",
        "-X": "each pair is reported once, and no read with itself, by default",
        "-D": "no read is overlapped with itself by default",
        "-P": "all overlaps are reported, unless --best says otherwise",
        "-N": "--best and --best-of-pair bound how many are reported",
        "-m": "--min-overlap is the shortest overlap reported",
    },
    "map": {
        "-c": "PAF has CIGARs by default",
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
