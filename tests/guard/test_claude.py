"""The Claude dialect says what the kernel's messages say, the same in Rust and Python."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from amplifier_core import message_models
from amplifier_core._engine import _round_trip
from amplifier_core.message_models import Message
from amplifier_guard.claude import (
    KNOWN_BLOCK_TYPES,
    ClaudeMessage,
    CodeBlock,
    ContentBlock,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UnknownBlock,
    migrate_text,
    migrate_tool_response,
    new_tool_use_id,
)

BLOCK = TypeAdapter[Any](ContentBlock)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
keys = texts.filter(lambda key: key != "type") | st.sampled_from(
    [
        "visibility",
        "content",
        "thinking",
        "signature",
        "output",
        "tool_call_id",
        "tool_use_id",
        "is_error",
        "metadata",
        "name",
        "claude",
        "data",
        "extra",
    ]
)
opaque = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(keys, opaque, max_size=3)
few = {"max_size": 3}


def fields(**declared: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with these fields first, and others after them."""
    strategies = {
        key: value if isinstance(value, st.SearchStrategy) else st.just(value)
        for key, value in declared.items()
    }
    return st.builds(
        lambda known, others: (
            {key: known[key] for key in strategies}
            | {key: value for key, value in others.items() if key not in strategies}
        ),
        st.fixed_dictionaries(strategies),
        objects,
    )


unknown_types = (
    texts
    | st.sampled_from(["audio", "tool_call", "redacted_thinking", "reasoning", "kernel/code"])
    | st.sampled_from(["claude/text", "claude/audio", "claude/claude/text", "claude/"])
).filter(lambda name: name not in KNOWN_BLOCK_TYPES)
BLOCKS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "text": fields(type="text", text=texts),
    "tool_use": fields(type="tool_use", id=texts, name=texts, input=objects | opaque),
    "tool_result": fields(
        type="tool_result",
        tool_use_id=texts,
        content=texts,
        is_error=st.none() | st.booleans(),
    ),
    "thinking": fields(type="thinking", content=texts, signature=st.none() | texts),
    "image": fields(type="image", source=objects),
    "code": fields(type="code", language=st.none() | texts, text=texts),
    "table": fields(
        type="table",
        columns=st.lists(texts, **few),
        rows=st.lists(st.lists(opaque, **few), **few),
    ),
    "chart": fields(type="chart", kind=texts, data=opaque),
    # Known fields of a block of the kernel come first when it comes back.
    "unknown": fields(type=unknown_types).filter(
        lambda block: len(block) == 1 or block["type"] not in message_models.KNOWN_BLOCK_TYPES
    ),
    "redacted_thinking": fields(type="redacted_thinking", data=texts),
    "reasoning": fields(
        type="reasoning", content=st.lists(opaque, **few), summary=st.lists(opaque, **few)
    ),
}
blocks = st.one_of(list(BLOCKS.values()))
messages = fields(
    role=st.sampled_from(["user", "assistant", "system", "tool", "human"]) | texts,
    content=texts | st.lists(blocks, max_size=3),
    thinking=st.none() | texts | st.lists(blocks, max_size=2),
)

visibilities = st.none() | st.sampled_from(["internal", "developer", "user"])
kernel_blocks = st.one_of(
    fields(type="text", text=texts, visibility=visibilities),
    fields(
        type="thinking",
        thinking=texts,
        signature=st.none() | texts,
        visibility=visibilities,
        content=st.none() | st.lists(opaque, max_size=2),
    ),
    fields(type="redacted_thinking", data=texts, visibility=visibilities),
    fields(type="tool_call", id=texts, name=texts, input=objects, visibility=visibilities),
    fields(type="tool_result", tool_call_id=texts, output=texts | opaque, visibility=visibilities),
    fields(type="image", source=objects, visibility=visibilities),
    fields(type="audio"),
)
kernel_messages = fields(
    role=st.sampled_from(["system", "developer", "user", "assistant"]),
    content=texts | st.lists(kernel_blocks, max_size=3),
    name=st.none() | texts,
    tool_call_id=st.none() | texts,
    metadata=st.none() | objects,
)


@pytest.mark.parametrize("variant", BLOCKS)
@given(data=st.data())
def test_a_block_is_written_alike_in_rust_and_comes_back_from_the_kernel(
    variant: str, data: st.DataObject
):
    block = BLOCK.validate_python(data.draw(BLOCKS[variant]))
    message = ClaudeMessage(role="assistant", content=[block])
    written = message.model_dump_json()

    text = BLOCK.dump_json(block).decode()
    assert _round_trip("claude::ContentBlock", text.encode()) == text
    back, _ = ClaudeMessage.from_kernel(message.to_kernel())
    assert back == message
    assert back.model_dump_json() == written


# Holds: dialect-1
@given(messages)
def test_a_message_comes_back_from_the_kernel_unchanged(raw: dict[str, Any]):
    message = ClaudeMessage.model_validate(raw)
    written = message.model_dump_json()

    assert _round_trip("claude::ClaudeMessage", written.encode()) == written
    assert ClaudeMessage.model_validate_json(written) == message
    back, degradations = ClaudeMessage.from_kernel(message.to_kernel())
    assert back == message
    assert back.model_dump_json() == written
    assert {one.reason for one in degradations} <= {"the Claude dialect has no block of this type"}


# Holds: dialect-2
@given(kernel_messages)
def test_what_is_left_of_a_kernels_message_is_what_its_degradations_say(raw: dict[str, Any]):
    kernel = Message.model_validate(raw)
    before = deepcopy(kernel)

    message, degradations = ClaudeMessage.from_kernel(kernel)

    expected = kernel.model_dump()
    if isinstance(expected["content"], str):
        text = {"type": "text", "text": expected["content"], "visibility": None}
        expected["content"] = [text]
    for one in degradations:
        place, _, _ = one.requested.removeprefix("`").partition("`")
        holder: Any = expected
        if place.startswith("content["):
            index, _, place = place.removeprefix("content[").partition("]")
            holder, place = expected["content"][int(index)], place.removeprefix(".")
        match one.actual:
            case "left out":
                del holder[place]
            case "its JSON as text":
                output = _round_trip("ToolResultBlock", _result_of(holder[place]))
                holder[place] = output[len(_RESULT) : -len(',"visibility":null}')]
            case "kept whole as a block of an unknown type":
                assert place == ""
            case role:
                holder[place] = role.strip("`")
    assert message.to_kernel() == Message.model_validate(expected)
    assert kernel == before


_RESULT = '{"type":"tool_result","tool_call_id":"","output":'


def _result_of(output: Any) -> bytes:
    return f"{_RESULT}{json.dumps(output)}}}".encode()


# Holds: dialect-3
def test_legacy_texts_migrate_as_the_seed_shows():
    assert migrate_text("Hello, Claude!") == ClaudeMessage(
        role="user", content=[TextBlock(text="Hello, Claude!")], thinking=None
    )
    assert migrate_tool_response("Tool result: file contents", "unique_id") == ToolResultBlock(
        tool_use_id="unique_id", content="file contents", is_error=None
    )


@pytest.mark.parametrize(
    ("role", "migrated"),
    [("assistant", "assistant"), ("system", "system"), ("tool", "user"), ("Claude", "user")],
)
def test_an_unknown_legacy_role_is_the_user(role: str, migrated: str):
    assert migrate_text("x", role).role == migrated


@given(texts)
def test_a_legacy_text_is_kept_to_the_letter(text: str):
    assert migrate_text(text).content == [TextBlock(text=text)]
    assert migrate_tool_response(f"Tool result: {text}", "id").content == text


def test_an_id_is_made_of_injected_bits():
    asked: list[int] = []

    def randbits(count: int) -> int:
        asked.append(count)
        return 0xBEEF

    assert migrate_tool_response("x", randbits=randbits).tool_use_id == "toolu_0000beef"
    assert new_tool_use_id(randbits=randbits) == "toolu_0000beef"
    assert asked == [32, 32]
    assert len({new_tool_use_id() for _ in range(3)}) == 3


def test_a_text_stands_for_one_block():
    message = ClaudeMessage.model_validate({"role": "a", "content": "hi", "thinking": "hm"})

    assert message.content == [TextBlock(text="hi")]
    assert message.thinking == [ThinkingBlock(content="hm")]


@pytest.mark.parametrize(
    ("raw", "written"),
    [
        (
            '{"type":"thinking","thinking":"hm","signature":"s"}',
            '{"type":"thinking","content":"hm","signature":"s"}',
        ),
        ('{"signature":null,"content":"hm"}', '{"type":"thinking","content":"hm"}'),
        (
            '{"type":"thinking","thinking":"b","content":"a"}',
            '{"type":"thinking","content":"a","thinking":"b"}',
        ),
    ],
)
def test_a_thought_is_read_under_both_names_of_its_text(raw: str, written: str):
    assert ThinkingBlock.model_validate_json(raw).model_dump_json() == written
    assert _round_trip("claude::ThinkingBlock", raw.encode()) == written


def test_thoughts_are_the_first_blocks_of_the_kernels_message():
    message = ClaudeMessage(
        role="assistant",
        content=[TextBlock(text="hi")],
        thinking=[ThinkingBlock(content="hm", signature="s")],
    )

    assert message.to_kernel() == Message.model_validate(
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "hi"},
            ],
            "metadata": {"claude": {"thinking": 1}},
        }
    )


# Holds: dialect-5
@pytest.mark.parametrize(
    ("raw", "kept_as"),
    [
        ({"type": "tool_use", "id": "t", "name": "ls", "input": "{}"}, "tool_use"),
        ({"type": "tool_use", "id": "t", "name": "ls", "input": {}, "visibility": 1}, "tool_use"),
        ({"type": "tool_call", "id": "t", "name": "ls", "input": {}}, "claude/tool_call"),
    ],
)
def test_a_call_that_cannot_run_is_no_call_of_the_kernel(raw: dict[str, Any], kept_as: str):
    message = ClaudeMessage(role="assistant", content=[BLOCK.validate_python(raw)])

    kernel = message.to_kernel()
    assert isinstance(kernel.content, list)
    assert kernel.content[0].model_dump() == raw | {"type": kept_as}
    assert ClaudeMessage.from_kernel(kernel) == (message, [])


def test_calls_results_and_planned_blocks_of_a_message_go_where_the_kernel_has_them():
    message = ClaudeMessage(
        role="user",
        content=[
            ToolUseBlock(id="t", name="ls", input={"path": "."}),
            ToolResultBlock.model_validate(
                {"tool_use_id": "t", "content": "a", "is_error": True, "metadata": {"ms": 3}}
            ),
            ImageBlock(source={"type": "url"}),
            CodeBlock(language="rust", text="fn main() {}"),
            UnknownBlock.model_validate({"type": "audio", "data": [1]}),
        ],
    )

    kernel = message.to_kernel()
    assert isinstance(kernel.content, list)
    assert [block.model_dump(exclude_none=True) for block in kernel.content] == [
        {"type": "tool_call", "id": "t", "name": "ls", "input": {"path": "."}},
        {
            "type": "tool_result",
            "tool_call_id": "t",
            "output": "a",
            "is_error": True,
            "metadata": {"ms": 3},
        },
        {"type": "image", "source": {"type": "url"}},
        {"type": "code", "language": "rust", "text": "fn main() {}"},
        {"type": "audio", "data": [1]},
    ]


def test_a_tool_message_of_a_context_is_a_tool_result():
    stored = {"role": "tool", "tool_call_id": "t", "content": "a.txt", "is_error": True}

    assert ClaudeMessage.from_kernel(stored) == (
        ClaudeMessage(
            role="user",
            content=[ToolResultBlock(tool_use_id="t", content="a.txt", is_error=True)],
        ),
        [],
    )


def test_a_structured_output_is_named_with_its_place():
    result = {"type": "tool_result", "tool_call_id": "t", "output": {"files": ["a"]}}

    message, degradations = ClaudeMessage.from_kernel({"role": "user", "content": [result]})

    assert message.content == [ToolResultBlock(tool_use_id="t", content='{"files":["a"]}')]
    assert [one.model_dump() for one in degradations] == [
        {
            "requested": "`content[0].output`: an object",
            "actual": "its JSON as text",
            "reason": "a tool result of the Claude dialect is a text",
        }
    ]


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        ({"content": []}, "role"),
        ({"role": 1, "content": []}, "role"),
        ({"role": "user", "content": 7}, "content"),
        ({"role": "user", "content": [], "thinking": {}}, "thinking"),
        ({"role": "user", "content": [{"type": "text"}]}, "content[0]"),
        (
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]},
            "content[0].content",
        ),
        ({"role": "user", "content": [{"type": "chart", "kind": "bar"}]}, "content[0].data"),
        ({"role": "user", "content": [{"text": "x"}]}, "content[0].type"),
    ],
)
def test_what_is_no_message_is_refused_on_both_sides(raw: dict[str, Any], place: str):
    with pytest.raises(ValidationError):
        ClaudeMessage.model_validate(raw)
    with pytest.raises(ValueError, match="`ClaudeMessage") as refusal:
        _round_trip("claude::ClaudeMessage", json.dumps(raw).encode())

    assert f"`ClaudeMessage.{place}" in str(refusal.value)


def test_a_field_set_to_what_it_cannot_hold_is_named_when_it_is_used():
    message = migrate_text("x")
    message.content = [TextBlock.model_construct(text=7)]

    with pytest.raises(ValueError, match=r"`ClaudeMessage\.content\[0\]\.text` must be a string"):
        message.to_kernel()


@pytest.mark.parametrize("depth", [100, 195, 196, 197, 198, 199])
def test_whatever_is_nested_deeply_comes_back_or_is_refused(depth: int):
    nested: Any = 1
    for _ in range(depth):
        nested = [nested]
    for raw in (
        {"role": "user", "content": [], "metadata": nested},
        {"role": "user", "content": [], "x": nested},
        {"role": "user", "content": [{"type": "chart", "kind": "bar", "data": nested}]},
    ):
        message = ClaudeMessage.model_validate(raw)
        refusal = ""
        try:
            assert ClaudeMessage.from_kernel(message.to_kernel()) == (message, [])
        except ValueError as error:
            refusal = str(error)
        assert not refusal or depth > 196
        assert not refusal or re.search("recursion limit|nested deeper", refusal)


def test_a_text_that_json_cannot_hold_is_refused():
    with pytest.raises(ValueError, match="surrogate"):
        migrate_text("\ud800")
    with pytest.raises(ValueError, match="surrogate"):
        ClaudeMessage(role="user", content=[TextBlock(text="\ud800")]).to_kernel()
