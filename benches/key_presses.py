"""How soon a key is drawn in a terminal while deltas arrive: `python benches/key_presses.py [SECONDS]`.

Prints milliseconds from the key to what it draws, for 5,000 deltas a second and for none.
"""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
import time

DELTAS_A_SECOND = 5_000


def stream(rate: int) -> None:
    """Show deltas above a prompt until the terminal has gone."""
    import asyncio
    from pathlib import Path

    from prompt_toolkit.history import InMemoryHistory

    from amplifier_app.display import Display
    from amplifier_app.display.screen import Screen
    from amplifier_app.line_input.completion import LineCompleter
    from amplifier_app.line_input.line_editor import LineEditor
    from amplifier_app.line_input.lines import Typing
    from amplifier_app.redacted_output import RedactedOutput
    from amplifier_core import events

    async def complete(_: str):
        for each in ():
            yield each

    async def run() -> None:
        lines = LineEditor(sys.stdout, InMemoryHistory(), LineCompleter(complete, Path()))
        output = RedactedOutput(Display(Screen(lines.stdout)))

        async def emit() -> None:
            place = {"block_type": "text", "block_index": 0}
            output.handle(events.CONTENT_BLOCK_START, place)
            words, sent, begun = ["the", "**quick**", "`fox`", "\n"], 0, time.perf_counter()
            while True:
                due = int((time.perf_counter() - begun) * rate)
                for number in range(sent, min(due, sent + 100)):
                    delta = words[number % len(words)] + " "
                    output.handle(events.CONTENT_BLOCK_DELTA, {**place, "delta": delta})
                sent = min(due, sent + 100)
                await asyncio.sleep(0.001)
                if rate and sent < due - rate:
                    begun += (due - sent) / rate  # too slow: that shows in the figure

        emitting = asyncio.create_task(emit())
        await lines.run(Typing(take=lambda _: None, write_status=lambda _: "model · tokens"))
        emitting.cancel()

    asyncio.run(run())


def press_keys(rate: int, seconds: float) -> list[float]:
    """Press a key now and then, and return the milliseconds until each was drawn."""
    pid, master = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS="100", LINES="40")
        stream(rate)
        os._exit(0)
    times: list[float] = []
    typed, seen = "", b""

    def read(until: float) -> bytes:
        ready = select.select([master], [], [], max(0.0, until - time.perf_counter()))[0]
        return os.read(master, 1_000_000) if ready else b""

    end = time.perf_counter() + 1.5
    while time.perf_counter() < end:
        read(end)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        # What is typed is drawn as one character at the place of the cursor, or as all of the line.
        key = chr(0x4E00 + len(times))
        os.write(master, key.encode())
        begun, seen = time.perf_counter(), b""
        while key.encode() not in seen:
            seen = seen[-8:] + read(begun + 5)
            assert time.perf_counter() < begun + 5, "the key was never drawn"
        times.append((time.perf_counter() - begun) * 1000)
        typed += key
        if len(typed) == 20:
            os.write(master, b"\x15")
            typed = ""
        pause = time.perf_counter() + 0.04
        while time.perf_counter() < pause:
            read(pause)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return sorted(times)


def main() -> None:
    """Measure."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10
    for rate in (0, DELTAS_A_SECOND):
        times = press_keys(rate, seconds)
        p50, p99 = times[len(times) // 2], times[int(len(times) * 0.99)]
        print(
            f"{rate:,} deltas a second: {len(times)} keys,"
            f" p50 {p50:.1f} ms, p99 {p99:.1f} ms, max {times[-1]:.1f} ms"
        )


if __name__ == "__main__":
    main()
