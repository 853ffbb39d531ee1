"""Digests of requests: each as if there had been no other, whatever was done to the messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic_core import to_json

from amplifier_core.message_models import ChatRequest, Message, TextBlock
from amplifier_modules.stores import digests as digests_module
from amplifier_modules.stores.digests import RequestDigests, digest_request

VALUES: tuple[Any, ...] = ("Go", "1", 1, True, 1.0, 0.0, -0.0, False, None, {}, [], {"a": 1})
KEYS = ("a", "b", "c", "text", "input")
DATA = st.dictionaries(
    st.sampled_from(KEYS),
    st.sampled_from(VALUES[:9]) | st.lists(st.sampled_from(VALUES[:9]), max_size=2),
    max_size=3,
)
BLOCKS = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, st.text(max_size=3)),
    st.builds(lambda data: {"type": "tool_call", "id": "1", "name": "look", "input": data}, DATA),
    st.builds(lambda data: {**data, "type": "custom"}, DATA),
    st.just({"type": "thinking", "thinking": "Hm", "content": [{"a": [1]}]}),
)
MESSAGES = st.builds(
    lambda role, content, data, more: Message.model_validate(
        {**more, "role": role, "content": content, "metadata": data}
    ),
    st.sampled_from(["system", "user", "assistant", "tool"]),
    st.text(max_size=3) | st.lists(BLOCKS, max_size=3),
    st.none() | DATA,
    st.just({}) | DATA,
)

Change = Callable[[list[Message], int, int], None]


def list_parts(root: Any) -> list[Any]:
    """All models, dicts and lists that a value consists of."""
    if isinstance(root, BaseModel):
        inner = [root.__dict__, root.__pydantic_extra__]
    elif isinstance(root, dict):
        inner = list(root.values())
    elif isinstance(root, list):
        inner = list(root)
    else:
        return []
    return [root, *(part for each in inner for part in list_parts(each))]


def list_data(messages: list[Message], kind: type[Any]) -> list[Any]:
    """The dicts or lists in the messages, without those of the declared fields."""
    parts = [part for message in messages for part in list_parts(message)]
    fields = [id(part.__dict__) for part in parts if isinstance(part, BaseModel)]
    return [part for part in parts if type(part) is kind and id(part) not in fields]


def add(messages: list[Message], one: int, other: int) -> None:
    messages.append(Message(role="user", content=f"{one} {other}"))


def cut(messages: list[Message], one: int, _: int) -> None:
    del messages[one % (len(messages) + 1) :]


def compact(messages: list[Message], one: int, _: int) -> None:
    messages[: one % (len(messages) + 1)] = [Message(role="user", content="Summary")]


def swap(messages: list[Message], one: int, other: int) -> None:
    if messages:
        one, other = one % len(messages), other % len(messages)
        messages[one], messages[other] = messages[other], messages[one]


def replace(messages: list[Message], one: int, other: int) -> None:
    if messages:
        copy = messages[other % len(messages)].model_copy(deep=True)
        messages[one % len(messages)] = copy


def replace_text(messages: list[Message], one: int, other: int) -> None:
    """In a message, or in its first block."""
    if messages:
        message = messages[one % len(messages)]
        if isinstance(message.content, str):
            message.content += str(other)
        elif message.content and isinstance(message.content[0], TextBlock):
            message.content[0].text = str(other)
        else:
            message.content = [TextBlock(text=str(other))]


def replace_fields(messages: list[Message], one: int, other: int) -> None:
    if messages:
        message = messages[one % len(messages)]
        message.role = "system" if message.role == "user" else "user"
        message.name, message.tool_call_id = message.tool_call_id, str(other)
        message.metadata = {**dict(reversed((message.metadata or {}).items()))}


def set_extra(messages: list[Message], one: int, other: int) -> None:
    if messages:
        parts = list_parts(messages[one % len(messages)])
        models = [part for part in parts if isinstance(part, BaseModel)]
        setattr(models[-1], "more", other)  # noqa: B010 -- not a declared field


def set_value(messages: list[Message], one: int, other: int) -> None:
    if found := list_data(messages, dict):
        found[one % len(found)]["a"] = VALUES[other % len(VALUES)]


def reorder_keys(messages: list[Message], one: int, _: int) -> None:
    if found := list_data(messages, dict):
        data = found[one % len(found)]
        entries = list(data.items())
        data.clear()
        data.update(reversed(entries))


def change_list(messages: list[Message], one: int, other: int) -> None:
    if found := list_data(messages, list):
        items = found[one % len(found)]
        if other % 2 and items:
            items.pop(other % len(items))
        elif not any(isinstance(each, BaseModel) for each in items):
            items.append(VALUES[other % len(VALUES)])
        else:
            items.reverse()


def redeclare(messages: list[Message], one: int, _: int) -> None:
    """Set a field anew, which is last in JSON then."""
    if messages:
        message = messages[one % len(messages)]
        role = message.role
        del message.role
        message.role = role


CHANGES: list[Change] = [
    add, cut, compact, swap, replace, replace_text, replace_fields, set_extra, set_value,
    reorder_keys, change_list, redeclare,
]  # fmt: skip
STEPS = st.lists(
    st.tuples(st.sampled_from(CHANGES), st.integers(0, 20), st.integers(0, 20)), max_size=12
)


def request_of(messages: list[Message]) -> ChatRequest:
    """A request with these objects, which are not validated again."""
    request = ChatRequest(messages=[])
    request.messages.extend(messages)
    return request


# Holds: store-63
@given(messages=st.lists(MESSAGES, max_size=12), steps=STEPS, run=st.integers(1, 5))
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_a_digest_is_that_of_the_messages_as_they_are_now(messages, steps, run):
    digests = RequestDigests()
    seen: dict[bytes, str] = {}

    for change, one, other in [(add, 0, 0), *steps]:
        for _ in range(2):
            request = request_of(messages)
            with patch.object(digests_module, "_RUN", run):
                made = digests.digest(request)
            assert made == digest_request(request)
            others = [each for each in messages if each.role != "system"]
            assert made["message_count"] == len(others)
            seen[to_json(others)] = made["messages"]
        change(messages, one, other)

    assert len(set(seen.values())) == len(seen)


def move_content(parts: list[Any]) -> None:
    """Move what the first of two dicts or lists holds to the second, or back."""
    one, other = parts if parts[0] else reversed(parts)
    (other.update if isinstance(other, dict) else other.extend)(one)
    one.clear()


def rename(data: dict[Any, Any], old: Any, new: Any) -> None:
    data[new] = data.pop(old)


# Holds: store-63
@pytest.mark.parametrize(
    ("metadata", "change"),
    [
        ({"a": "x"}, lambda message: rename(message.metadata, "a", "b")),
        ({1: "x"}, lambda message: rename(message.metadata, 1, True)),
        ({"a": 1, "b": 2}, lambda message: rename(message.metadata, "a", "a")),
        ({"a": 1}, lambda message: message.metadata.update(a=True)),
        ({"a": 0.0}, lambda message: message.metadata.update(a=-0.0)),
        ({"a": [[1], []]}, lambda message: move_content(message.metadata["a"])),
        ({"a": [[], [1]]}, lambda message: move_content(message.metadata["a"])),
        ({"a": [{"b": 1}, {}]}, lambda message: move_content(message.metadata["a"])),
        ({"a": [{}, {"b": 1}]}, lambda message: move_content(message.metadata["a"])),
        ({}, lambda message: setattr(message, "more", 1)),
        ({}, lambda message: setattr(message, "content", [])),
        ({}, lambda message: message.__init__(role="user", content="Stop")),
    ],
)
def test_a_message_that_was_changed_in_place_has_another_digest(metadata, change):
    message = Message(role="user", content="Go", metadata={})
    message.metadata = metadata
    digests = RequestDigests()
    first = digests.digest(request_of([message]))
    change(message)
    second = digests.digest(request_of([message]))

    assert second == digest_request(request_of([message]))
    assert first["messages"] != second["messages"]


# Holds: store-63
def test_messages_that_did_not_change_are_not_encoded_again(monkeypatch):
    encoded: list[Any] = []

    def encode(part: Any, **options: Any) -> bytes:
        encoded.append(part)
        return to_json(part, **options)

    monkeypatch.setattr(digests_module, "to_json", encode)
    call = {"type": "tool_call", "id": "1", "name": "look", "input": {"a": [1, {"b": 2.5}]}}
    messages = [
        Message.model_validate({"role": "assistant", "content": content, "metadata": {"at": 1}})
        for content in ["Go", [call], [{"type": "custom", "data": [None]}]] * 40
    ]
    new = Message(role="user", content="And?")
    digests = RequestDigests()
    digests.digest(request_of(messages))
    encoded.clear()
    digests.digest(request_of([*messages, new]))

    assert [each for each in encoded if isinstance(each, Message)] == [new]


@pytest.mark.parametrize("odd", [object, (1,), {1: 2}, b"x"])
def test_what_may_change_unseen_is_encoded_each_time(odd):
    held = [odd]
    message = Message(role="user", content="Go", metadata={"held": held})
    digests = RequestDigests()
    first = digests.digest(request_of([message]))
    held.append("more")

    assert digests.digest(request_of([message])) == digest_request(request_of([message])) != first


def test_a_message_that_contains_itself_has_a_digest():
    message = Message(role="user", content="Go", metadata={})
    assert message.metadata is not None
    message.metadata["self"] = message.metadata

    assert len(digest_request(request_of([message]))["messages"]) == 64
