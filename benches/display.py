"""What the display of an answer costs: twice the text, or twice the blocks, takes twice the time."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from typing import Any

from side_by_side import Figure, Times, run, time_each

WORDS = "the **quick** brown fox jumps over the `lazy` dog. " * 20 + "\n"
TEXT_CHARS = 500_000
DELTA_CHARS = 50
TOKEN_CHARS = 5
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
        for name, make in (("terminal", terminal), ("pipe", pipe)):
            times[f"{name}: 1 MB in tokens"] = await of_each(make, [text], TOKEN_CHARS)
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
        "terminal: 1 MB of Markdown, a token at a time, against writing it as it is",
        case="terminal: 1 MB in tokens",
        against="pipe: 1 MB in tokens",
        share=3,
    )
]

if __name__ == "__main__":
    run(__file__, measure, "display of an answer", FIGURES)
