"""What the display of an answer costs: against writing it as it is, and twice of it against once.

"As it is" is the same display where nothing is styled or wrapped: it removes secrets and controls,
too. Both write to a file that forgets, or to a pseudo-terminal that another process reads.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import io
import os
import pty
import struct
import termios
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, TextIO

from side_by_side import Figure, Times, run, time_each

WORDS = "the **quick** brown fox jumps over the `lazy` dog. " * 20 + "\n"
MIXED = """# How the settings are read

The parser reads **each file once** and keeps what it found in `Settings.cache`, so that the second call of `load()` \
returns at once. Before, it opened the file for *every key*, which took most of the time of a start.

- `settings.py`: the function `read_file` returns a *frozen* mapping, and raises an error with the path and the line.
  - a file that has changed is read again
1. Run the tests with `pytest -q tests`, and look at the **last line**.

```python
def load(path: Path, *, cache: Cache | None = None) -> Settings:
    if cache is not None and (found := cache.get(path)) is not None:
        return found
    with path.open(encoding="utf-8") as file:
        return parse(file.read(), name=str(path))
```

| file | lines | what changed |
|---|---:|---|
| `settings.py` | 120 | reads each file once |
| `cache.py` | 48 | new |

> The cache is not shared between processes, so that each of them reads the file for itself.

"""
TEXT_CHARS = 500_000
DELTA_CHARS = 50
DELTAS = (5, 20, 50, 200)
BLOCKS = 2_500


class Terminal(io.StringIO):
    """A terminal that forgets what it shows."""

    def isatty(self) -> bool:
        """Colours, wrapping and panels, please."""
        return True

    def write(self, text: str) -> int:
        """Take a text."""
        return len(text)


class Pipe(Terminal):
    """The same, where nothing is styled."""

    def isatty(self) -> bool:
        """Text as it is, please."""
        return False


class Lines(io.BytesIO):
    """A pipe that forgets what it gets."""

    def write(self, data: Any) -> int:
        """Take bytes."""
        return len(data)


def terminal() -> Any:
    """The display that a person sees."""
    from amplifier_app.display import Display
    from amplifier_app.display.screen import Screen
    from amplifier_app.redacted_output import RedactedOutput

    return RedactedOutput(Display(Screen(Terminal(), width=100)))


def pipe() -> Any:
    """The same display where the text is written as it is."""
    from amplifier_app.display import Display
    from amplifier_app.display.screen import Screen
    from amplifier_app.redacted_output import RedactedOutput

    return RedactedOutput(Display(Screen(Pipe(), width=100)))


def on_terminal(file: TextIO, *, is_styled: bool) -> Any:
    """The display on a terminal, or with the text as it is written to one."""
    from amplifier_app.display import Display
    from amplifier_app.display.screen import Screen
    from amplifier_app.redacted_output import RedactedOutput

    screen = Screen(file)
    screen.is_terminal = is_styled
    return RedactedOutput(Display(screen))


@contextlib.contextmanager
def open_terminal() -> Generator[TextIO]:
    """A pseudo-terminal of 100 columns, with another process that reads it."""
    reading, writing = pty.openpty()
    fcntl.ioctl(writing, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    reader = os.fork()
    if not reader:
        os.close(writing)
        with contextlib.suppress(OSError):
            while os.read(reading, 1 << 16):
                pass
        os._exit(0)
    os.close(reading)
    with open(writing, "w", encoding="utf-8") as file:
        yield file
    os.waitpid(reader, 0)


def write_each(file: TextIO, text: str, delta_chars: int) -> None:
    """Write and flush each delta, with nothing else."""
    for start in range(0, len(text), delta_chars):
        file.write(text[start : start + delta_chars])
        file.flush()


def lines() -> Any:
    """The JSON lines for programs."""
    from amplifier_app.json_lines import JsonLines
    from amplifier_app.redacted_output import RedactedOutput

    return RedactedOutput(JsonLines(Lines()))


def shown(output: Any, blocks: list[str], delta_chars: int = DELTA_CHARS) -> None:
    """Show an answer of these blocks, in deltas."""
    from amplifier_core import events

    for index, text in enumerate(blocks):
        place = {"block_type": "text", "block_index": index}
        output.handle(events.CONTENT_BLOCK_START, place)
        for start in range(0, len(text), delta_chars):
            delta = text[start : start + delta_chars]
            output.handle(events.CONTENT_BLOCK_DELTA, {**place, "delta": delta})
        block = {"type": "text", "text": text}
        output.handle(events.CONTENT_BLOCK_END, {**place, "block": block})
    output.finish()


async def repeat_write(file: TextIO, text: str, delta_chars: int, times: int) -> None:
    """Write the text so many times."""
    for _ in range(times):
        write_each(file, text, delta_chars)


async def of_each(
    make: Callable[[], Any], blocks: list[str], delta_chars: int = DELTA_CHARS
) -> float:
    """CPU seconds of one answer."""

    async def repeat(times: int) -> None:
        for _ in range(times):
            shown(make(), blocks, delta_chars)

    return await time_each(repeat)


def measure() -> Times:
    """All cases; nothing on the side of the reference, which has no display."""
    try:
        import amplifier_app.display  # noqa: F401
    except ImportError:
        return {}

    async def cases() -> Times:
        text = (WORDS * (2 * TEXT_CHARS // len(WORDS) + 1))[: 2 * TEXT_CHARS]
        times: Times = {}
        for name, make in (("terminal", terminal), ("json", lines)):
            times[f"{name}: text"] = await of_each(make, [text[:TEXT_CHARS]])
            times[f"{name}: twice the text"] = await of_each(make, [text])
            times[f"{name}: blocks"] = await of_each(make, ["word "] * BLOCKS)
            times[f"{name}: twice the blocks"] = await of_each(make, ["word "] * (2 * BLOCKS))
        for kind, sample in (("prose", WORDS), ("mixed", MIXED)):
            text = (sample * (2 * TEXT_CHARS // len(sample) + 1))[: 2 * TEXT_CHARS]
            for chars in DELTAS:
                what = f"{kind} in {chars}"
                for name, make in (("terminal", terminal), ("pipe", pipe)):
                    times[f"{name}: {what}"] = await of_each(make, [text], chars)
                with open_terminal() as file:
                    for name, is_styled in (("styled", True), ("plain", False)):
                        open_display = partial(on_terminal, file, is_styled=is_styled)
                        times[f"{name}: {what}"] = await of_each(open_display, [text], chars)
                    times[f"bare: {what}"] = await time_each(
                        partial(repeat_write, file, text, chars)
                    )
        return times

    return asyncio.run(cases())


FIGURES = [
    Figure(
        f"{name}: twice the {what} against once",
        case=f"{name}: twice the {what}",
        against=f"{name}: {what}",
        share=2.5,
    )
    for name in ("terminal", "json")
    for what in ("text", "blocks")
] + [
    Figure(
        f"1 MB of {kind} in {chars}s, against {other}",
        f"{case}: {kind} in {chars}",
        against=f"{against}: {kind} in {chars}",
        share=share,
    )
    for kind in ("prose", "mixed")
    for chars in DELTAS
    for other, case, against, share in (
        ("as it is", "terminal", "pipe", 3),
        ("as it is, to a pseudo-terminal", "styled", "plain", 3),
        ("write and flush alone", "styled", "bare", None),
    )
]

if __name__ == "__main__":
    run(__file__, measure, "display of an answer", FIGURES)
