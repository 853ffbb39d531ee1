"""Requests of a loop: the same as if each were built from nothing, whatever came before."""

from __future__ import annotations

import copy
import pickle
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.message_models import ChatRequest, Message
from amplifier_modules.contexts.changes import OwnMessage
from amplifier_modules.contexts.simple import SimpleContext
from amplifier_modules.loops import request as request_module
from amplifier_modules.loops.boundary.injection import Injection, with_injections
from amplifier_modules.loops.request import RequestBuilder
from amplifier_modules.loops.settings import LoopSettings
from amplifier_providers.requests.foreign_form import InvalidMessageError

MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant"]), "content": st.text(max_size=3)},
    optional={"name": st.just("ada")},
)
HISTORIES = st.lists(st.lists(MESSAGES, min_size=1, max_size=12), min_size=1, max_size=6)


NOBODY = {"role": "nobody", "content": "x"}


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
    invalid = [*longer[:place], NOBODY, *longer[place:]]

    with pytest.raises(InvalidMessageError, match=f"^message {invalid.index(NOBODY)} "):
        requests.build(invalid, [])

    assert requests.build(longer, []) == fresh(longer)
    assert requests.build(history, []) == fresh(history)


class Meddling(SimpleContext):
    """Changes the list that the context returns, as one derived from ours may."""

    meddle: Any = staticmethod(lambda messages: messages)

    async def get_messages_for_request(self, token_budget=None, provider=None):
        return self.meddle(await super().get_messages_for_request(token_budget, provider))


def _said(text):
    return {"role": "user", "content": text}


def _call(id):
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": id, "tool": "look", "arguments": {}}],
    }


def _result(id):
    return {"role": "tool", "tool_call_id": id, "name": "look", "content": "seen " * 40}


def _changed(change):
    def apply(messages):
        change(messages)
        return messages

    return apply


MEDDLING = [
    lambda messages: messages,
    lambda messages: messages[1:],
    lambda messages: [_said("first"), *messages],
    _changed(lambda messages: messages.append(_said("last"))),
    _changed(lambda messages: messages.insert(0, _said("first"))),
    _changed(lambda messages: messages.__setitem__(0, _said("in its place"))),
    _changed(lambda messages: messages.__delitem__(0)),
    _changed(lambda messages: messages.extend([_said("last")])),
    _changed(lambda messages: messages.pop(0)),
    _changed(lambda messages: messages.reverse()),
    _changed(lambda messages: messages.sort(key=str)),
    _changed(lambda messages: messages.remove(messages[0])),
    _changed(lambda messages: messages.clear()),
    _changed(lambda messages: messages.__iadd__([_said("last")])),
]
TEXTS = st.sampled_from(["a", "b", "c" * 80])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), TEXTS),
        st.tuples(st.sampled_from(["call", "call with a note"]), st.just("")),
        st.tuples(st.just("prompt"), TEXTS),
        st.tuples(st.just("meddle"), st.sampled_from(MEDDLING)),
        st.tuples(st.just("change"), TEXTS),
        st.tuples(st.just("inject"), TEXTS),
        st.tuples(st.sampled_from(["clear", "replace", "request"]), st.just("")),
    ),
    max_size=20,
)


@pytest.mark.parametrize("meddle", range(len(MEDDLING)))
async def test_a_list_that_was_changed_is_looked_at_again(meddle):
    context, requests = Meddling(), builder()
    for text in ("one", "two", "three", "four"):
        await context.add_message(_said(text))
    requests.build(await context.get_messages_for_request(), [])
    context.meddle = MEDDLING[meddle]
    messages = await context.get_messages_for_request()
    assert requests.build(messages, []) == fresh(messages)


@given(steps=STEPS, room=st.integers(60, 400))
async def test_a_request_has_the_messages_of_the_context_whatever_it_says_of_them(steps, room):
    """A context says what is unchanged; a request must never have a message of before in its place."""
    context, requests = Meddling(max_tokens=room, token_meter="estimate"), builder()
    for number, (step, value) in enumerate(steps):
        injected: list[Injection] = []
        if step == "say":
            await context.add_message(_said(value))
        elif step.startswith("call"):
            await context.add_message(_call(str(number)))
            await context.get_messages_for_request()
            if step == "call with a note":
                await context.add_message(_said("a hook notes"))
                requests.build(await context.get_messages_for_request(), [])
            await context.add_message(_result(str(number)))
        elif step == "prompt":

            async def prompt(text=value):
                return text

            await context.set_system_prompt_factory(prompt)
        elif step == "meddle":
            context.meddle = value
        elif step == "change" and (messages := await context.get_messages()):
            messages[number % len(messages)]["content"] = value
        elif step == "inject":
            injected.append(Injection(value))
        elif step == "clear":
            await context.clear()
        elif step == "replace":
            await context.set_messages((await context.get_messages())[1:])
        context.meddle, meddle = (lambda messages: messages), context.meddle
        if await context.get_messages_for_request():
            context.meddle = meddle
            messages = with_injections(await context.get_messages_for_request(), injected)
            assert requests.build(messages, []) == fresh(messages)


async def test_messages_that_a_context_says_are_unchanged_are_not_compared(monkeypatch):
    compared = []
    monkeypatch.setattr(RequestBuilder, "_compare", lambda *given: compared.append(given))
    context, requests = SimpleContext(), builder()
    for number in range(3):
        await context.add_message(_said(str(number)))
        requests.build(await context.get_messages_for_request(), [])
    assert len(compared) == 1, "before the first request nothing is known"


async def test_a_copy_of_the_messages_of_a_request_is_a_plain_list():
    context = SimpleContext()
    await context.add_message(_said("Hello"))
    messages = await context.get_messages_for_request()
    for made in (
        copy.copy(messages),
        copy.deepcopy(messages),
        pickle.loads(pickle.dumps(messages)),
    ):
        assert type(made) is list
        assert made == messages


SCHEMAS = st.dictionaries(st.sampled_from("ab"), st.just({"type": "string"}), max_size=2)
TOOLS = st.dictionaries(st.sampled_from(["look", "read"]), SCHEMAS, max_size=2)


@given(rounds=st.lists(TOOLS, min_size=1, max_size=5), said=st.lists(st.text(max_size=2)))
def test_tools_are_described_as_they_are_now(rounds, said):
    requests = builder()
    tools: dict[str, Any] = {}
    for index, schemas in enumerate(rounds):
        for name in {*tools} - {*schemas}:
            del tools[name]
        for name, properties in schemas.items():
            tool = tools.setdefault(name, SimpleNamespace(input_schema={}))
            # Changed in place, as a tool may do.
            tool.input_schema.clear()
            tool.input_schema |= {"type": "object", "properties": properties}
            tool.description = said[index] if index < len(said) else None

        assert requests.tool_specs(tools) == request_module.tool_specs(tools)


def test_a_tool_that_has_not_changed_is_described_once():
    requests = builder()
    tools = {"look": SimpleNamespace(input_schema={"type": "object"}, description="Looks.")}

    assert requests.tool_specs(tools)[0] is requests.tool_specs(tools)[0]
