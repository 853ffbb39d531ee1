"""Requests of a loop: the same as if each were built from nothing, whatever came before."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from amplifier_core.message_models import ChatRequest, Message
from amplifier_modules.contexts.own_message import OwnMessage
from amplifier_modules.loops import request as request_module
from amplifier_modules.loops.request import RequestBuilder
from amplifier_modules.loops.settings import LoopSettings

MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant"]), "content": st.text(max_size=3)},
    optional={"name": st.just("ada")},
)
HISTORIES = st.lists(st.lists(MESSAGES, min_size=1, max_size=12), min_size=1, max_size=6)


def builder() -> RequestBuilder:
    return RequestBuilder(LoopSettings())


def fresh(messages: list[dict[str, Any]]) -> ChatRequest:
    return ChatRequest(messages=[Message.model_validate(message) for message in messages])


@given(histories=HISTORIES, chunk=st.integers(1, 5))
def test_each_request_holds_the_messages_that_it_was_given(histories, chunk):
    requests = builder()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(request_module, "_CHUNK", chunk)
        built = [requests.build(messages, []) for messages in histories]

    assert built == [fresh(messages) for messages in histories]


@given(
    history=st.lists(MESSAGES, min_size=1, max_size=12),
    changes=st.lists(st.tuples(st.integers(0, 11), st.text(max_size=3)), max_size=4),
)
def test_a_message_that_was_changed_in_place_is_looked_at_again(history, changes):
    requests = builder()
    requests.build(history, [])

    for place, text in changes:
        history[place % len(history)]["content"] = text

    assert requests.build(history, []) == fresh(history)


CHANGES = st.sampled_from(
    [
        lambda message: message.update(content="new"),
        lambda message: message.__setitem__("content", "new"),
        lambda message: message.__ior__({"content": "new"}),
        lambda message: message.pop("name", None),
        lambda message: message.__delitem__("name") if "name" in message else None,
        lambda message: message.setdefault("name", "bob"),
        lambda message: (message.popitem(), message.update(role="user", content="again")),
        lambda message: (message.clear(), message.update(role="user", content="all new")),
    ]
)


@given(
    history=st.lists(MESSAGES, min_size=1, max_size=12),
    changes=st.lists(st.tuples(st.integers(0, 11), CHANGES), max_size=4),
    more=st.lists(MESSAGES, max_size=3),
)
def test_a_message_of_a_context_that_was_changed_in_place_is_looked_at_again(
    history, changes, more
):
    requests = builder()
    own = [OwnMessage(message) for message in history]
    requests.build(own, [])

    for place, change in changes:
        change(own[place % len(own)])
    own += map(OwnMessage, more)

    assert requests.build(own, []) == fresh([dict(message) for message in own])


def test_a_copy_of_a_contexts_message_is_a_plain_dict():
    own = OwnMessage(role="user", content="hi")
    for twin in (copy.copy(own), copy.deepcopy(own), pickle.loads(pickle.dumps(own)), own.copy()):
        assert (type(twin), twin) == (dict, {"role": "user", "content": "hi"})


@given(
    history=st.lists(MESSAGES, min_size=1, max_size=12),
    longer=st.lists(MESSAGES, min_size=1, max_size=12),
    place=st.integers(0, 12),
)
def test_a_message_that_is_none_leaves_nothing_behind(history, longer, place):
    requests = builder()
    requests.build(history, [])
    invalid = [*longer[:place], {"role": "nobody", "content": "x"}, *longer[place:]]

    with pytest.raises(ValidationError):
        requests.build(invalid, [])

    assert requests.build(longer, []) == fresh(longer)
    assert requests.build(history, []) == fresh(history)
