"""Answers as small models write them have one result, wherever they are cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.message_models import ToolSpec
from amplifier_modules.loops.answers.reading import Form, Reading
from amplifier_modules.loops.boundary.hook_points import HookPoints
from amplifier_stream import StreamChunk, ThinkingParser

FOLDER = Path(__file__).parents[2] / "data/tagged_answers"
TOOLS = [
    ToolSpec(name="read", parameters={"properties": {"path": {"type": "string"}}}),
    ToolSpec(
        name="find",
        parameters={"properties": {"text": {"type": "string"}, "count": {"type": "integer"}}},
    ),
]
EXPECTED: dict[str, list[Any]] = {
    "prose_and_fences": [
        ("thinking", "\nThe user wants to know what is in notes.txt. I could write <tool> here, but that\n"
         + 'would only be a thought: {"tool_name": "none", "arguments": {}}\n'),
        ("text", "\nSure! A call is written between `<tool` and `>`; I will read the file first.\n\n```xml\n"
         + '<tool>\n{\n  "tool_name": "read",\n  "arguments": {"path": "notes \\"draft\\".txt", "note": "ends with </tool> or <\\/tool>"}\n}\n'
         + "</tool>\n```\n\nThen I look for the word, where 1 < 2 && x > 3:\n"),
        ("find", {"text": "a <b> && c", "count": 3}),
        ("text", "\nI wait for the results. </tool>\n"),
    ],
    "one_after_the_other": [
        ("read", {"path": "a.txt"}),
        ("read", {"path": "b.txt"}),
        ("find", {"text": 'if (a && b) { return "</tool>"; }', "count": 12}),
        ("text", "\n<toolbox>not a call</toolbox> &lt;tool&gt; neither is this\n"),
        ("find", {"text": 'it\'s "quoted": {"a": [1, 2]}', "count": 1}),
        ("find", {"text": "x", "count": "many"}),
    ],
    "unclosed_thought": [
        ("thinking", "I should read it. The tag is <tool>, and I never close this thought.</think >\n"
         + 'Still thinking, with <tool>{"tool_name": "read", "arguments": {"path": "no.txt"}}</tool> inside'),
    ],
    "unclosed_call": [
        ("text", 'Wait — I need "both" files — ä ö 漢字 😀.\n'),
        ("read", {"path": "漢字/😀.txt"}),
        ("text", "\nAnd now the other one, whose end is lost:\n"),
        ("read", "the call has no closing tag"),
    ],
}  # fmt: skip


class Hooks:
    """Keeps what is emitted."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        self.events.append((event, data))


async def typed(pieces: list[str]) -> Any:
    """Yield chunks as a provider does: thinking is separated, calls are text."""
    parser = ThinkingParser(["think"])
    kinds: dict[str, Any] = {"thinking": "thinking", "message": "message", "stray_close": "message"}
    for events in (*(parser.feed(piece) for piece in pieces), parser.flush()):
        for event in events:
            if event.type in kinds and event.content:
                yield StreamChunk(event.content, type=kinds[event.type])
    yield StreamChunk(finished=True)


async def read(*pieces: str) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the content, and the events of agents and displays with neighbouring pieces joined."""
    hooks = Hooks()
    form = Form(tags=("tool",), tools=TOOLS)
    response = await Reading(HookPoints(hooks, None), form).read(typed(list(pieces)))
    content: list[Any] = []
    for block in response.content:
        if block.type == "tool_call":
            error = (block.model_extra or {}).get("error")
            content.append((block.name, error or block.input))
        else:
            content.append((block.type, getattr(block, "text", None) or block.thinking))
    return content, *(joined(hooks.events, prefix) for prefix in ("agent:", "content_block:"))


def joined(events: list[tuple[str, dict[str, Any]]], prefix: str) -> list[Any]:
    """Return events without ids, and with the pieces of one content as one."""
    found: list[Any] = []
    for name, data in events:
        if not name.startswith(prefix):
            continue
        data = {key: value for key, value in data.items() if key != "metadata"}
        for key in ("call", "block"):
            if key in data:
                data[key] = {k: v for k, v in data[key].items() if k not in ("id", "findings")}
        key = "content" if prefix == "agent:" else "delta"
        place = [name, {k: v for k, v in data.items() if k != key}]
        if found and key in data and found[-1][:2] == place:
            found[-1][2] += data[key]
        else:
            found.append([*place, data.get(key)])
    return found


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("name", EXPECTED)
async def test_an_answer_has_its_text_and_its_calls(name: str) -> None:
    content, agent, display = await read((FOLDER / f"{name}.txt").read_text("utf-8"))

    assert content == EXPECTED[name]
    shown = [text for _, data, text in display if data["block_type"] == "text" and text]
    assert "".join(shown) == "".join(said for kind, said in EXPECTED[name] if kind == "text")
    starts = [name for name, *_ in agent if name.endswith("_start")]
    ends = [name for name, *_ in agent if name.endswith("_end")]
    assert len(starts) == len(ends)


# Holds: provider-10
@pytest.mark.parametrize("name", EXPECTED)
async def test_it_has_them_wherever_it_is_cut(name: str) -> None:
    text = (FOLDER / f"{name}.txt").read_text("utf-8")
    whole = await read(text)
    for place in range(1, len(text)):
        assert await read(text[:place], text[place:]) == whole, place
    for size in (1, 2, 3, 7):
        pieces = [text[start : start + size] for start in range(0, len(text), size)]
        assert await read(*pieces) == whole, size
