"""Messages nested to any depth: the dialect has them, or what is cut of them is named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amplifier_core.message_models import (
    Message,
    ReasoningBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from amplifier_core.models import ToolResult
from amplifier_guard.claude import ChartBlock, ClaudeMessage, TableBlock, UnknownBlock

DEPTHS = st.integers(0, 400) | st.sampled_from([900, 1_000, 1_100, 3_000])
SHAPES = st.lists(st.sampled_from(["list", "dict", "tuple", "wide"]), min_size=1, max_size=4)


def nested(depth: int, shapes: list[str]) -> Any:
    """A value so many levels deep, of shapes that take turns."""
    value: Any = "core"
    for level in range(depth):
        match shapes[level % len(shapes)]:
            case "list":
                value = [value]
            case "dict":
                value = {"k": value}
            case "tuple":
                value = (value,)
            case _:
                value = [1, {"k": value}] if level % 2 else [value, None]
    return value


PLACES = {
    "output": lambda value: {"content": [ToolResultBlock(tool_call_id="c", output=value)]},
    "input": lambda value: {"content": [ToolCallBlock(id="c", name="n", input={"a": value})]},
    "reasoning": lambda value: {"content": [ReasoningBlock(content=[value], summary=[])]},
    "thought": lambda value: {"content": [ThinkingBlock(thinking="t", content=[value])]},
    "extra": lambda value: {"content": [TextBlock(text="t", more=value)]},
    "metadata": lambda value: {"content": "t", "metadata": {"claude": value}},
    "key": lambda value: {"content": "t", "thinking": value},
    "unknown": lambda value: {"content": [{"type": "other", "data": value}]},
    "several": lambda value: {
        "content": [
            TextBlock(text="t", more=value),
            ToolResultBlock(tool_call_id="c", output=[value]),
        ]
    },
}


@given(
    depth=DEPTHS,
    shapes=SHAPES,
    place=st.sampled_from(list(PLACES)),
    role=st.sampled_from(["user", "assistant", "tool"]),
)
@example(depth=198, shapes=["list"], place="output", role="user")
@example(depth=100_000, shapes=["dict"], place="unknown", role="tool")
def test_every_message_of_the_kernel_becomes_one_of_the_dialect(depth, shapes, place, role):
    call = {"tool_call_id": "c"} if role == "tool" else {}
    message = Message(role=role, **call, **PLACES[place](nested(depth, shapes)))

    converted, degradations = ClaudeMessage.from_kernel(message)

    ClaudeMessage.model_validate_json(converted.model_dump_json())
    cut = [each for each in degradations if "nested deeper than 200 levels" in each.requested]
    assert bool(cut) is (depth > 190) or 95 <= depth <= 200
    assert all(each.actual == "150 levels of it" for each in cut)
    whole = json.dumps(json.loads(converted.model_dump_json()))
    assert ("core" in whole) or cut or place in {"metadata", "key", "thought"}


def test_what_contains_itself_is_cut_there():
    output: list[Any] = [1]
    output.append(output)
    message = Message(role="user", content=[ToolResultBlock(tool_call_id="c", output=output)])
    converted, degradations = ClaudeMessage.from_kernel(message)
    assert converted.content[0].content == '[1,"list"]'
    assert degradations[0].requested == "`content[0].output`: nested deeper than 200 levels"


@given(depth=DEPTHS, shapes=SHAPES, block=st.sampled_from(["chart", "table", "unknown"]))
def test_what_is_too_deep_for_the_kernel_is_refused_by_a_plain_error(depth, shapes, block):
    value = nested(depth, shapes)
    content = {
        "chart": lambda: ChartBlock(kind="bar", data=value),
        "table": lambda: TableBlock(columns=["a"], rows=[[value]]),
        "unknown": lambda: UnknownBlock(type="other", data=value),
    }[block]()
    message = ClaudeMessage(role="user", content=[content])
    refusal = refused(message)
    if refusal is not None:
        assert type(refusal) is ValueError
        assert "200 levels" in str(refusal)
        assert depth > 90
        return
    again, degradations = ClaudeMessage.from_kernel(message.to_kernel())
    assert (again.model_dump_json(), degradations) == (message.model_dump_json(), [])


def refused(message: ClaudeMessage) -> ValueError | None:
    try:
        message.to_kernel()
    except ValueError as error:
        return error
    return None


# Holds: differ-107
@given(depth=DEPTHS, shapes=SHAPES)
def test_the_output_of_a_tool_is_written_at_any_depth(depth, shapes):
    output = {"top": nested(depth, shapes)}
    text = ToolResult(success=True, output=output).get_serialized_output()
    if depth < 300:
        assert text == json.dumps(output)
    assert text.startswith('{"top": ')


@pytest.mark.parametrize("shapes", [["list"], ["dict"], ["tuple"]])
def test_tagged_results_are_written_at_any_depth(shapes):
    from amplifier_core.message_models import ChatRequest
    from amplifier_modules.loops.answers.tagged_request import tagged_request

    deep = nested(100_000, shapes)
    request = ChatRequest(
        messages=[
            Message(role="assistant", content=[ToolCallBlock(id="c", name="n", input={"a": deep})]),
            Message(role="user", content=[ToolResultBlock(tool_call_id="c", output=deep)]),
        ]
    )
    for form in ("json", "xml"):
        assert len(tagged_request(request, "tool", form).messages) == 2
