"""Random conversations, and what happens to them before they are sent again.

A conversation is what several providers wrote, whole and valid; then it is trimmed, forked,
compacted, reordered or changed, and tools answer whatever they like.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from amplifier_core.message_models import ToolSpec

PIXEL = base64.b64encode(
    base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABXvMqOgAAAABJ"
        "RU5ErkJggg=="
    )
).decode()
PDF = base64.b64encode(b"%PDF-1.4\n%%EOF\n").decode()

TEXTS = st.one_of(
    st.sampled_from(
        ["hello", " ", "", "\n", "a\0b", "half \ud83d", "\x1b[2J", "trailing  ", "é😀"]
    ),
    st.text(max_size=6),
)
IDS = st.sampled_from(
    ["1", "2", "3", "a:b", "", "call_1", "toolu_1", "x" * 80, "functions.look:0", "é", "call_1_2"]
)
NAMES = st.sampled_from(
    [
        "look",
        "read_file",
        "mcp.server/tool",
        "",
        "with space",
        "n" * 140,
        "werkzeug_é",
        "a.b",
        "a/b",
    ]
)
ARGUMENTS = st.sampled_from(
    [
        {},
        {"at": "a"},
        {"n": float("nan")},
        {"deep": [{"a": [1, None]}]},
        {"half": "\ud83d", "\0": 1},
    ]
)


def cases(number: int) -> settings:
    """Try so many of a hundred examples of the profile; a short run tries the same ones each time."""
    most = settings().max_examples
    return settings(max_examples=number * most // 100, derandomize=most <= 100)


@dataclass(frozen=True, eq=False)
class Writer:
    """A provider that wrote a message: what its thinking looks like, and its own blocks."""

    provider: str | None
    model: str
    think: Callable[[str], dict[str, Any]]
    """Makes a block of thinking with this text."""
    own_blocks: tuple[dict[str, Any], ...] = ()
    """Blocks that only this provider knows, each valid where it stands."""


def text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def call_block(call_id: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_call", "id": call_id, "name": name, "input": arguments}


IMAGES = st.sampled_from(
    [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
        {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
    ]
)
DOCUMENTS = st.sampled_from(
    [
        {
            "type": "document",
            "title": "A",
            "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
        },
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "All of it."},
        },
    ]
)
ODD = st.sampled_from(
    [{"type": "code", "language": "c", "text": "x"}, {"type": "hologram", "depth": 3}]
)
_DEEP: list[Any] = []
for _ in range(100_000):
    _DEEP = [_DEEP]
_ENDLESS: dict[str, Any] = {}
_ENDLESS["itself"] = [_ENDLESS]
HOSTILE = st.sampled_from(
    [
        _DEEP,
        _ENDLESS,
        {(1, 2): "a key of no JSON"},
        {"bytes": b"\xff", "set": {1}, "class": object, "number": 10**400},
        [{"type": "image"}],
        [{"type": "image", "source": {"type": "base64", "media_type": "image/tiff", "data": "!"}}],
        [{"type": "tool_result", "tool_call_id": "1"}, {"type": []}, None],
        "</function_results>\ud83d\x1b]0;\x07\u202e",
    ]
)
OUTPUTS = st.one_of(
    TEXTS,
    st.none(),
    HOSTILE,
    st.sampled_from([{"a": [1, "é"]}, [1, 2], 7, True, {"half": "\ud83d"}]),
    st.lists(st.one_of(st.builds(text_block, TEXTS), IMAGES, DOCUMENTS, ODD), max_size=3),
)


@cache
def answers(writer: Writer) -> st.SearchStrategy[dict[str, Any]]:
    """Messages of this writer: any blocks, whole or not."""
    blocks = st.lists(
        st.one_of(
            st.builds(text_block, TEXTS),
            st.builds(writer.think, st.sampled_from(["hm", "why?"])),
            st.builds(call_block, IDS, NAMES, ARGUMENTS),
            st.sampled_from([*writer.own_blocks, {"type": "hologram", "depth": 3}]),
            st.just({"type": "thinking", "thinking": "never signed", "signature": None}),
        ),
        max_size=5,
    )
    about: dict[str, Any] = {"model": writer.model, "requested_model": writer.model}
    if writer.provider is not None:
        about["provider"] = writer.provider
    return st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": st.one_of(blocks, TEXTS)},
        optional={
            "metadata": st.just(about),
            "tool_calls": st.lists(
                st.builds(
                    lambda call_id, name, arguments: {
                        "id": call_id, "tool": name, "arguments": arguments,
                    },
                    IDS, NAMES, ARGUMENTS,
                ),
                max_size=2,
            ),
        },
    )  # fmt: skip


def _result_message(call_id: str, output: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": output}


_RESULTS = st.one_of(
    st.builds(_result_message, IDS, st.one_of(TEXTS, st.just([text_block("seen")]))),
    st.builds(
        lambda call_id, output: {
            "role": "user",
            "content": [{"type": "tool_result", "tool_call_id": call_id, "output": output}],
        },
        IDS,
        OUTPUTS,
    ),
)
_USERS = st.fixed_dictionaries(
    {
        "role": st.just("user"),
        "content": st.one_of(
            TEXTS,
            st.lists(st.one_of(st.builds(text_block, TEXTS), IMAGES, DOCUMENTS, ODD), max_size=3),
        ),
    }
)
_SYSTEMS = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "developer"]), "content": TEXTS}
)


QUESTION = {"role": "user", "content": "Look."}
SUMMARY = {"role": "user", "content": "(What was said before, in short.)"}


@cache
def messages(writers: tuple[Writer, ...]) -> st.SearchStrategy[dict[str, Any]]:
    """Any message, in any place."""
    return st.one_of(_RESULTS, _USERS, _SYSTEMS, *map(answers, writers))


@st.composite
def rounds(draw: st.DrawFn, writers: tuple[Writer, ...]) -> list[dict[str, Any]]:
    """Draw a valid round: a question, calls with their results, an answer."""
    writer = draw(st.sampled_from(writers))
    said = draw(answers(writer))
    content = said["content"]
    calls = [
        block["id"] for block in content if isinstance(block, dict) and block["type"] == "tool_call"
    ]
    results = [_result_message(call_id, draw(TEXTS)) for call_id in calls]
    return [QUESTION, said, *results, *([draw(answers(writer))] if draw(st.booleans()) else [])]


def edit(draw: st.DrawFn, history: list[Any], writers: tuple[Writer, ...]) -> None:
    """Do with a history what programs, people and compactions do with it."""
    place = draw(st.integers(0, len(history)))
    match draw(_EDITS):
        case "insert":
            history[place:place] = [draw(messages(writers))]
        case "trim":
            del history[:place]
        case "fork":
            del history[place:]
        case "delete":
            del history[place : place + 1]
        case "compact":
            history[draw(st.integers(0, place)) : place] = [SUMMARY]
        case "swap" if place + 1 < len(history):
            history[place], history[place + 1] = history[place + 1], history[place]
        case "again":
            history += history[place : place + 1]
        case _:
            pass


_EDITS = st.sampled_from(["insert", "trim", "fork", "delete", "compact", "swap", "again"])


@st.composite
def conversations(draw: st.DrawFn, writers: tuple[Writer, ...]) -> list[dict[str, Any]]:
    """Draw a conversation of several rounds, and edit it."""
    a_round = rounds_of(writers)
    history: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(0, 3))):
        history += draw(a_round)
    for _ in range(draw(st.integers(0, 3))):
        edit(draw, history, writers)
    return history


rounds_of = cache(rounds)


SCHEMAS = st.sampled_from(
    [
        {},
        {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]},
        {
            "anyOf": [
                {"type": "object", "properties": {"a": {}}, "required": ["a"]},
                {"type": "null"},
            ]
        },
        {"allOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}]},
        {"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"b": {}}}}},
        {"type": "object", "oneOf": [{"required": ["a"]}], "properties": {"a": {}, "b": {}}},
        {"type": "string", "enum": ["a"]},
    ]
)
TOOLS = st.lists(
    st.builds(
        lambda name, schema, description: ToolSpec(
            name=name, parameters=schema, description=description
        ),
        NAMES,
        SCHEMAS,
        st.sampled_from([None, "", "Looks."]),
    ),
    max_size=4,
)
