"""Interrupt commands at random moments; count those that end as they should.

Run ``python -m tests.benchmarks.interrupts [COMMAND ...] [--gpu] [--genome-size 30k] [--times 30] [--seed 1]
[--cold]``. ``--gpu`` takes the commands that work on GPUs; give them more reads than the others get.
``--cold`` gives each run an empty cache of kernels, so that most moments fall into compiling. A signal that
comes before the first line of the program runs is Python's to answer, and counted apart.
"""

import random
import shutil
import tempfile
from collections import Counter
from pathlib import Path

from tests.benchmarks.harness import parser_of
from tests.interrupting import COMMANDS, ON_GPUS, SIGNALS, Interrupted, run_alone, write_inputs


def main():
    parser = parser_of(__doc__, gpu=False, genome_size="30k", times=30, seed=1, cold=False)
    parser.add_argument("commands", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inputs = folder / "inputs"
        inputs.mkdir()
        write_inputs(inputs, options.genome_size)
        for command in options.commands or (ON_GPUS if options.gpu else COMMANDS):
            _interrupt(command, inputs, folder, options)


def _interrupt(command, inputs, folder, options):
    draw = random.Random(f"{command} {options.seed}")
    seconds = 0.0
    outcomes = Counter()
    longest = 0.0
    # The first run of a command may compile its kernels, the second tells how long others take.
    for number in range(-1 if options.cold else -2, options.times):
        cache = {"NUMBA_CACHE_DIR": str(folder / "cache")} if options.cold else {}
        here = folder / "run"
        if number < 0:
            seconds = run_alone(command, inputs, here, environment=cache)
        else:
            delay = draw.uniform(0, seconds)
            run = Interrupted(command, inputs, here, SIGNALS[number % 2], delay, environment=cache)
            outcome = {0: "ended before"}.get(run.code, "interrupted")
            if run.before_first_line:
                outcome = "before the first line"
            elif run.faults:
                outcome = "FAULT"
                print(f"{command}: {SIGNALS[number % 2].name} at {delay:.2f} s: {', '.join(run.faults)}")
                print(run.said)
            outcomes[outcome] += 1
            longest = max(longest, run.seconds)
        shutil.rmtree(here)
        shutil.rmtree(folder / "cache", ignore_errors=True)
    counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    print(f"{command}: alone {seconds:.1f} s; {counts}; ended within {longest:.2f} s", flush=True)


if __name__ == "__main__":
    main()
