"""Repeats the session of a seed, or runs many: `repeat.py SEED [COUNT]`."""

from __future__ import annotations

import sys
import time
from collections import Counter

from simulation import SimulationError, simulate


def main(first: int, count: int = 1) -> int:
    """Run sessions; return 1 if one has broken a promise."""
    began, steps, broken = time.process_time(), 0, 0
    statuses: Counter[str] = Counter()
    for seed in range(first, first + count):
        try:
            simulated = simulate(seed)
        except SimulationError as error:
            broken += 1
            print(error, flush=True)
            continue
        steps += simulated.steps
        statuses.update(simulated.statuses)
        if count == 1:
            print(simulated)
    seconds = time.process_time() - began
    print(f"{count} sessions, {steps} steps, {broken} broken, {seconds:.1f} s; {dict(statuses)}")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
