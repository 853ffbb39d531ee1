"""Conversations in the form of OpenAI's Chat Completions are converted, others are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_agent import Agent, ScriptedProvider
from amplifier_providers.requests.foreign_form import InvalidMessageError, native_messages

OPENAI: list[dict[str, Any]] = [
    {"role": "developer", "content": "be kind"},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "hi"},
            {"type": "input_text", "text": "there"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            {"type": "input_image", "image_url": "https://example.org/a.png"},
        ],
    },
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "look", "arguments": '{"x": 1}'},
            },
            {"id": "c2", "type": "function", "function": {"name": "look", "arguments": ""}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "seen"},
    {"role": "tool", "tool_call_id": "c2", "content": "seen too"},
    {"role": "assistant", "content": "", "function_call": {"name": "look", "arguments": "{}"}},
    {"role": "function", "name": "look", "content": "seen at last"},
]
NATIVE: list[dict[str, Any]] = [
    {"role": "developer", "content": "be kind"},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "hi"},
            {"type": "text", "text": "there"},
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"},
            },
            {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
        ],
    },
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": "c1", "tool": "look", "arguments": {"x": 1}},
            {"id": "c2", "tool": "look", "arguments": {}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "seen"},
    {"role": "tool", "tool_call_id": "c2", "content": "seen too"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "call_5", "tool": "look", "arguments": {}}],
    },
    {"role": "tool", "name": "look", "tool_call_id": "call_5", "content": "seen at last"},
]


class Notebook:
    """A context of others, which keeps what it is given."""

    def __init__(self, messages: list[dict[str, Any]]) -> None:
        self.messages = messages

    async def add_message(self, message: dict[str, Any]) -> None:
        self.messages.append(message)

    async def get_messages(self) -> list[dict[str, Any]]:
        return self.messages

    async def get_messages_for_request(self, **options: Any) -> list[dict[str, Any]]:
        return self.messages

    async def clear(self) -> None: ...


def sent(model: ScriptedProvider) -> list[dict[str, Any]]:
    messages = (each.model_dump(exclude_none=True) for each in model.requests[0].messages)
    return [{key: each[key] for key in each if key != "metadata"} for each in messages]


# Holds: agent-11
@pytest.mark.parametrize("from_context", [False, True])
async def test_a_conversation_in_the_form_of_openai_is_sent_in_ours(from_context: bool) -> None:
    model = ScriptedProvider(["ok"])
    if from_context:
        await Agent(model, context=Notebook(list(OPENAI))).run("go")
    else:
        await Agent(model).run("go", messages=OPENAI)
    assert sent(model) == [*NATIVE, {"role": "user", "content": "go"}]


async def test_the_messages_of_a_result_are_its_own_form() -> None:
    result = await Agent(ScriptedProvider(["ok"])).run("go", messages=OPENAI)
    assert native_messages(result.messages) == result.messages


REFUSED: list[tuple[dict[str, Any], str]] = [
    (
        {"role": "model", "content": "x"},
        (
            "message 1 (`model`): no such role (must be one of `system`, `developer`, `user`,"
            " `assistant`, `function`, `tool`)"
        ),
    ),
    (
        {"content": "x"},
        (
            "message 1 (`None`): no such role (must be one of `system`, `developer`, `user`,"
            " `assistant`, `function`, `tool`)"
        ),
    ),
    (
        {"role": "user", "content": 5},
        "message 1 (`user`): `content` is a `int` (must be text or a list of blocks)",
    ),
    (
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "a", "arguments": "{"}}]},
        (
            "message 1 (`assistant`): the arguments of call `c` are no JSON: Expecting property name"
            " enclosed in double quotes: line 1 column 2 (char 1)"
        ),
    ),
    (
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "a", "arguments": "[1]"}}]},
        "message 1 (`assistant`): the arguments of call `c` are a `list` (must be an object)",
    ),
    (
        {"role": "assistant", "tool_calls": [{"function": {"name": "a", "arguments": "{}"}}]},
        "message 1 (`assistant`): a call has no `id` or no name of a function, each a text",
    ),
    (
        {"role": "function", "name": "look", "content": "x"},
        "message 1 (`function`): it answers no call of `look` before it",
    ),
    (
        {"role": "user", "content": [{"type": "image_url"}]},
        "message 1 (`user`): a block of type `image_url` has no `url`",
    ),
    (
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png,A"}}]},
        "message 1 (`user`): the data URL of an image is not in base64",
    ),
]  # fmt: skip


# Holds: agent-11
@pytest.mark.parametrize(("message", "said"), REFUSED)
async def test_a_message_that_cannot_be_sent_is_refused_where_it_is_given(
    message: dict[str, Any], said: str
) -> None:
    model = ScriptedProvider(["ok"])
    messages = [{"role": "user", "content": "hi"}, message]
    agent = Agent(model)
    for give in (
        lambda: agent.session(messages=messages),
        lambda: agent.stream("go", messages=messages),
    ):
        with pytest.raises(InvalidMessageError) as raised:
            give()
        assert str(raised.value) == said
        assert (raised.value.position, raised.value.role) == (1, message.get("role"))
    with pytest.raises(InvalidMessageError):
        await agent.run("go", messages=messages)
    assert model.requests == []


async def test_a_message_of_a_context_that_cannot_be_sent_is_named() -> None:
    messages = [{"role": "user", "content": "hi"}, {"role": "model", "content": "x"}]
    with pytest.raises(InvalidMessageError) as raised:
        await Agent(ScriptedProvider(["ok"]), context=Notebook(messages)).run("go")
    assert str(raised.value).startswith(
        "message 1 (`model`): `role` cannot be used (Input should be"
    )


json = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just([5]) | st.just({})
some = st.sampled_from


# Holds: agent-11
@given(
    st.lists(
        st.fixed_dictionaries(
            {"role": some(["user", "assistant", "tool", "function", "system"])},
            optional={
                "content": some([None, "", [{"type": "image_url"}]]) | json,
                "tool_calls": some([[{"function": {}}], [{"id": "a", "function": 5}]]) | json,
                "function_call": some([{"name": "a"}, {}]) | json,
                "name": some(["a", 5]),
                "tool_call_id": some(["a", None]),
            },
        ),
        max_size=3,
    )
)
def test_whatever_is_given_is_converted_or_refused(messages: list[Mapping[str, Any]]) -> None:
    try:
        found = native_messages(messages)
    except InvalidMessageError as error:
        refused = error.position, error.role
    else:
        assert len(found) == len(messages)
        assert native_messages(found) == found
        return
    assert messages[refused[0]].get("role") == refused[1]
