"""Thoughts and tool calls in tags, from Python; the crate's own tests hold every rule one by one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_stream import (
    StreamDecoder,
    TagEvent,
    ThinkingFilter,
    ThinkingParser,
    ToolCallParser,
    coerce_arguments,
)

Parser = ThinkingParser | ToolCallParser
Shape = tuple[Any, ...]

FRAGMENTS = [
    "<thinking>", "</thinking>", "<thinkin", "< thinking>", "<think>", "</think>", "<tool>", "</tool>",
    "<toolbox>", "</", "<", ">", "a < b", "<![CDATA[", "]]>", "<!--", "-->", "<tool_name>", "a",
    "</tool_name>", "<arguments>", "</arguments>", "<x>", "</x>", "&amp;", "& ", "&lt;", "{", "}", "[",
    '"', "\\", '\\"', ":", ",", '"tool_name"', '"arguments"', " ", "\n", "😀", "é", "NaN", "1e400",
]  # fmt: skip

texts = st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join)
PARSERS: dict[str, Callable[[], Parser]] = {
    "thinking": ThinkingParser,
    "nested aliases": lambda: ThinkingParser(
        ["thinking", "think"], ignore_case=True, allow_attributes=True, nested=True
    ),
    "calls": lambda: ToolCallParser(id_prefix="call_"),
    "short calls": lambda: ToolCallParser(["tool", "x"], max_call_bytes=20, id_prefix="call_"),
}


def shape(event: TagEvent) -> Shape:
    return event.type, event.index, event.truncated, event.call


def joined(parser: Parser, pieces: Sequence[str]) -> list[tuple[Shape, str]]:
    """Return what the parser says, neighbouring pieces of one kind joined."""
    events = [event for piece in pieces for event in parser.feed(piece)] + parser.flush()
    result: list[tuple[Shape, str]] = []
    for event in events:
        if result and result[-1][0] == shape(event) and event.type in JOINABLE:
            result[-1] = (shape(event), result[-1][1] + event.content)
        else:
            result.append((shape(event), event.content))
    return result


JOINABLE = {"thinking", "message", "regular", "tool_call_content"}


def cut(text: str, places: Sequence[int]) -> list[str]:
    ends = [*sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]


# Holds: tags-1
@pytest.mark.parametrize("name", PARSERS)
@given(text=texts, places=st.lists(st.integers(0, 1000), max_size=10))
def test_however_a_text_is_cut_it_says_the_same(name: str, text: str, places: list[int]) -> None:
    whole = joined(PARSERS[name](), [text])
    assert joined(PARSERS[name](), cut(text, places)) == whole
    assert joined(PARSERS[name](), list(text)) == whole


# Holds: tags-2
@given(st.text(st.characters(exclude_characters="<", codec="utf-8"), min_size=1))
def test_text_without_tags_comes_out_at_once_and_as_it_was(text: str) -> None:
    for parser in (ThinkingParser(), ToolCallParser()):
        assert [event.content for event in parser.feed(text)] == [text]
        assert parser.flush() == []


@given(texts)
def test_every_letter_is_in_one_event(text: str) -> None:
    def written(events: list[tuple[Shape, str]], close: str) -> str:
        parts: list[str] = []
        for (kind, _, truncated, _), content in events:
            if kind.endswith("_end"):
                parts.append("" if truncated else close)
            elif kind != "tool_call_name":
                parts.append(content)
        return "".join(parts)

    assert written(joined(ThinkingParser(), [text]), "</thinking>") == text
    assert written(joined(ToolCallParser(), [text]), "</tool>") == text


words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1)
arguments = st.dictionaries(st.from_regex("[a-z]{1,6}", fullmatch=True), texts | words, max_size=4)


def as_json(name: str, values: dict[str, str]) -> str:
    return json.dumps({"tool_name": name, "arguments": values}, ensure_ascii=False)


def as_xml(name: str, values: dict[str, str]) -> str:
    inside = "".join(f"<{key}>{escape(text)}</{key}>" for key, text in values.items())
    return f"<tool_name>{name}</tool_name><arguments>{inside}</arguments>"


def as_cdata(name: str, values: dict[str, str]) -> str:
    inside = "".join(
        f"<{key}><![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]></{key}>"
        for key, text in values.items()
    )
    return f"<tool_name>{name}</tool_name>\n<arguments>{inside}</arguments>"


# Holds: tags-3
@given(st.lists(st.tuples(arguments, st.sampled_from([as_json, as_xml, as_cdata])), max_size=4))
def test_calls_in_every_form_come_out_as_they_were_meant(
    calls: list[tuple[dict[str, str], Callable[[str, dict[str, str]], str]]],
) -> None:
    text = "a < b".join(f"<tool>{write('read', values)}</tool>" for values, write in calls)
    found = [call for (_, _, _, call), _ in joined(ToolCallParser(), [text]) if call]
    assert [(call.arguments, call.error) for call in found] == [(v, None) for v, _ in calls]


def test_a_call_is_told_whole() -> None:
    raw = '{"tool_name": "read", "arguments": {"n": 123456789012345678901}}'
    parser = ToolCallParser(id_prefix="id_")
    events = parser.feed(f"pre <tool>{raw}</tool>")
    assert [(event.type, event.content) for event in events] == [
        ("regular", "pre "),
        ("tool_call_start", "<tool>"),
        ("tool_call_content", '{"tool_name": "read"'),
        ("tool_call_name", "read"),
        ("tool_call_content", ', "arguments": {"n": 123456789012345678901}}'),
        ("tool_call_end", ""),
    ]
    call = events[-1].call
    fields = {name: getattr(call, name) for name in dir(call) if not name.startswith("_")}
    assert fields == {
        "index": 0,
        "id": "id_0",
        "name": "read",
        "server_name": "local",
        "arguments": {"n": 123456789012345678901},
        "is_textual": False,
        "raw": raw,
        "is_native": False,
        "is_complete": True,
        "error": None,
        "findings": [],
    }


def test_ids_differ_between_parsers() -> None:
    calls = [ToolCallParser().feed("<tool>{}</tool>")[-1].call for _ in range(2)]
    assert len({call.id for call in calls if call}) == 2


def test_the_pair_of_the_older_interface() -> None:
    parser = ToolCallParser()
    call, regular = parser.parse('x<tool>{"name": "a"}</tool><tool>{"name": "b"}</tool>y')
    assert call is not None
    assert regular is not None
    assert (call.type, call.content) == ("tool_call", '{"name": "a"}\n{"name": "b"}')
    assert [each.name for each in call.calls] == ["a", "b"]
    assert (regular.type, regular.content) == ("regular", "xy")
    thinking, message = ThinkingParser().parse("a<thinking>b</thinking>c")
    assert thinking is not None
    assert message is not None
    assert (thinking.content, message.content) == ("b", "ac")


def test_a_repair_is_a_finding() -> None:
    event = ToolCallParser().feed("<tool><tool_name>a & b</tool_name></tool>")[-1]
    assert event.call is not None
    assert event.call.findings == [
        {
            "type": "bare_ampersand",
            "message": "1 bare `&` outside of CDATA were read as `&amp;`",
        }
    ]


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ([], "a tag parser needs at least one tag name"),
        (["a", "a"], "tag name `a` is given twice"),
        ("a b", "invalid tag name `a b`"),
        (["x" * 65], "invalid tag name"),
    ],
)
def test_bad_tag_names_are_refused(tags: Any, message: str) -> None:
    for parser in (ThinkingParser, ToolCallParser, ThinkingFilter):
        with pytest.raises(ValueError, match=message):
            parser(tags)


SCHEMA = {
    "type": "object",
    "properties": {
        "count": {"type": "integer"},
        "ratio": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "force": {"type": "boolean"},
        "text": {"type": "string"},
        "edits": {"type": "array", "items": {"$ref": "#/$defs/edit"}},
        "tags": {"type": ["array", "null"], "items": {"type": "string"}},
    },
    "$defs": {"edit": {"type": "object", "properties": {"line": {"type": "integer"}}}},
}


def test_the_schema_gives_text_its_type() -> None:
    given_texts = {
        "count": " 12345678901234567890 ",
        "ratio": "null",
        "force": "true",
        "text": "3",
        "edits": {"edit": {"line": "7"}},
        "tags": "one",
        "other": "4",
    }
    assert coerce_arguments(given_texts, SCHEMA) == {
        "count": 12345678901234567890,
        "ratio": None,
        "force": True,
        "text": "3",
        "edits": [{"line": 7}],
        "tags": ["one"],
        "other": "4",
    }


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"count": "many"}, "argument `count` must be integer, found `many`"),
        ({"edits": {"edit": [{"line": "x"}]}}, r"argument `edits\[0\].line` must be integer"),
        ({"text": {"b": "x"}}, "argument `text` must be string, found nested elements"),
    ],
)
def test_what_the_schema_does_not_fit_is_named(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        coerce_arguments(values, SCHEMA)


def test_a_schema_that_names_itself_ends() -> None:
    schema = {"properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": {}}}
    schema["$defs"]["a"] = {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}
    assert coerce_arguments({"x": "y"}, schema) == {"x": "y"}


def test_thinking_tags_in_text_blocks_become_thinking_blocks(
    wire: Callable[[list[dict[str, Any]]], bytes],
) -> None:
    delta = {"type": "text_delta", "text": "<thinking>why</thinking>because"}
    body = wire(
        [
            {"type": "message_start", "message": {"id": "m"}},
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "text", "text": ""},
            },
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_stop"},
        ]
    )
    decoder, thinking = StreamDecoder("anthropic"), ThinkingFilter()
    events = thinking.feed(decoder.feed(body))
    assert [(event.event, event.block_type, event.block_index) for event in events] == [
        ("content_block:start", "thinking", 0),
        ("content_block:delta", "thinking", 0),
        ("content_block:end", "thinking", 0),
        ("content_block:start", "text", 1),
        ("content_block:delta", "text", 1),
        ("content_block:end", "text", 1),
    ]
    result = thinking.finish(decoder.finish())
    assert result.blocks == [
        {"type": "thinking", "thinking": "why"},
        {"type": "text", "text": "because"},
    ]
    with pytest.raises(RuntimeError, match="already finished"):
        thinking.finish(result)
