"""What the command costs until it shows something in a terminal, compared with a bare interpreter."""

from __future__ import annotations

import os
import pty
import statistics
import sys
import tempfile
import time
from pathlib import Path

from side_by_side import Figure, Times, run

COMMAND = "import sys; from amplifier_app.cli import main; sys.exit(main())"
PROMPT = "Give me a tour of this project"
THOUGHT = b"thinking"
"""What the panel around the first thought of the model begins with."""
ASKED = b">"
"""What the prompt of the interactive command is."""
REPETITIONS = 7


def cpu_time_of(process: int) -> float:
    """CPU seconds of a running process so far, threads included."""
    # The clock that `clock_getcpuclockid` gives; Python has no call for it.
    return time.clock_gettime((~process << 3) | 2)


def in_terminal(arguments: list[str], folder: str, *, keys: bytes = b"") -> Times:
    """CPU seconds until the first character, the first thought or prompt, and the end.

    At the prompt of the interactive command the keys are pressed.
    """
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        keyless = {name: value for name, value in os.environ.items() if "ANTHROPIC" not in name}
        own = {"TERM": "xterm", "XDG_STATE_HOME": folder}
        os.execve(sys.executable, [sys.executable, "-I", *arguments], keyless | own)
    times: Times = {}
    shown = b""
    while True:
        try:
            read = os.read(terminal, 65_536)
        except OSError:  # Linux tells so that the other end is closed
            break
        if not read:
            break
        shown += read
        times.setdefault("first character", cpu_time_of(process))
        if THOUGHT in shown:
            times.setdefault("first thought", cpu_time_of(process))
        if keys and ASKED in shown:
            times.setdefault("first prompt", cpu_time_of(process))
            os.write(terminal, keys)
            keys = b""
    os.close(terminal)
    _, status, usage = os.wait4(process, 0)
    if status:
        raise SystemExit(f"`{arguments[-1]}` ended with {status}: {shown.decode()}")
    return times | {"end": usage.ru_utime + usage.ru_stime}


def measure() -> Times:
    """Whole processes, the interpreter's own start included."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "README.md").write_text("# A project\n\nIt holds one file.\n")
        rounds: list[Times] = []
        # The first round warms up. In turns, so that a busy moment falls on all of them.
        for _ in range(REPETITIONS + 1):
            turn = in_terminal(["-c", COMMAND, "run", PROMPT], folder)
            asked = in_terminal(["-c", COMMAND], folder, keys=b"\x04")
            rounds.append(
                {
                    "nothing": in_terminal(["-c", "pass"], folder)["end"],
                    "help": in_terminal(["-c", COMMAND, "--help"], folder)["end"],
                    "turn": turn.pop("end"),
                    "first prompt": asked["first prompt"],
                    **turn,
                }
            )
    return {case: statistics.median(times[case] for times in rounds[1:]) for case in rounds[0]}


if __name__ == "__main__":
    run(
        __file__,
        measure,
        "start of the command",
        [
            Figure("amplifier-core --help", "help", share=4, against="nothing"),
            Figure("interactive: first prompt", "first prompt", share=11, against="nothing"),
            Figure("run: first character", "first character", share=6, against="nothing"),
            Figure("run: first thought", "first thought", share=30, against="nothing"),
            Figure("run: a turn of the demo model", "turn", against="nothing"),
        ],
    )
