"""What a fresh interpreter pays for `import amplifier_core`, and for a first model with it."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys

from side_by_side import Figure, Times, run

PROGRAMS = {
    "nothing": "pass",
    "import": "import amplifier_core",
    "first model": "import amplifier_core; amplifier_core.HookResult()",
}
REPETITIONS = 7


def cpu_time(program: str) -> float:
    """CPU seconds of one interpreter that runs the program, start and end included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-I", "-c", program], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure() -> Times:
    """The whole processes, and what is left of them without the interpreter's own start."""
    for program in PROGRAMS.values():
        cpu_time(program)
    # In turns, so that a busy moment falls on all of them.
    turns = [[cpu_time(program) for program in PROGRAMS.values()] for _ in range(REPETITIONS)]
    medians = map(statistics.median, zip(*turns, strict=True))
    whole = dict(zip(PROGRAMS, medians, strict=True))
    return {f"{name} alone": time - whole["nothing"] for name, time in whole.items()} | whole


if __name__ == "__main__":
    run(
        __file__,
        measure,
        "import",
        [
            Figure("import amplifier_core", "import alone", share=1 / 8),
            Figure("the same with a first HookResult()", "first model alone", share=0.85),
            Figure("import, interpreter included", "import", share=1 / 8),
            Figure("first HookResult(), interpreter included", "first model", share=0.85),
        ],
    )
