"""An encoder that has seen a conversation grow sends what a new one would, and what it has sent before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import conversations as random
import pytest
from encoders import ENCODERS, MODELS
from hypothesis import given
from hypothesis import strategies as st
from writers import OF_ANTHROPIC, OF_OPENAI, OF_SERVICES, mostly

from amplifier_core.llm_errors import InvalidRequestError
from amplifier_core.message_models import ChatRequest, Message

OWN: dict[str, tuple[random.Writer, ...]] = {
    "anthropic": OF_ANTHROPIC,
    "openai": OF_OPENAI,
    **{name: (writer,) for name, writer in OF_SERVICES.items()},
}
FORMS = st.sampled_from(["model", "model", "dict"])


def _message(draw: st.DrawFn, fields: dict[str, Any]) -> Any:
    """Return a message of its own, as a model or a dict."""
    content = fields["content"]
    own = {**fields, "content": list(content) if isinstance(content, list) else content}
    return Message.model_construct(**own) if draw(FORMS) == "model" else own


def _sent(encoder: Any, model: str, history: list[Any]) -> Any:
    """Return the body and what it says about repairs, or why there is none."""
    try:
        encoded = encoder.encode(ChatRequest.model_construct(messages=history, model=model))
    except InvalidRequestError as error:
        return str(error)
    return encoded.to_bytes(), encoded.degradations, encoded.message_count


def _change(draw: st.DrawFn, message: Any) -> None:
    """Change the content of a message in its place."""
    block = random.text_block(draw(random.TEXTS))
    is_dict = isinstance(message, dict)
    content = message["content"] if is_dict else message.content
    if isinstance(content, list):
        place = draw(st.integers(0, len(content)))
        match draw(st.sampled_from(["insert", "replace", "delete"])):
            case "insert":
                content.insert(place, block)
            case "replace":
                content[place : place + 1] = [block]
            case _:
                del content[place : place + 1]
    elif is_dict:
        message["content"] = block["text"]
    else:
        message.content = block["text"]


_HAPPENS = (
    ("grow",), ("grow",), ("grow", "edit"), ("grow", "change"), ("edit",), ("change",),
    ("copy", "grow"), ("edit", "grow"), ("again",),
)  # fmt: skip


# Holds: provider-7
@random.cases(20)
@pytest.mark.parametrize("provider", ENCODERS)
@given(data=st.data())
def test_a_history_that_was_sent_before_is_sent_as_if_it_were_new(
    provider: str, data: st.DataObject
) -> None:
    make, models, own = ENCODERS[provider], MODELS[provider], OWN[provider]
    writers = mostly(*own)
    encoder, history = make(), list[Any]()
    for _ in range(data.draw(st.integers(2, 5))):
        for happens in data.draw(st.sampled_from(_HAPPENS)):
            match happens:
                case "grow":
                    new = data.draw(random.rounds_of(writers))
                    history += [_message(data.draw, each) for each in new]
                case "edit":
                    random.edit(data.draw, history, writers)
                case "change" if history:
                    _change(data.draw, data.draw(st.sampled_from(history)))
                case "copy":
                    history = [*history]
                case _:
                    history = []
        model = data.draw(st.sampled_from([models[0], models[0], models[0], models[1]]))
        assert _sent(encoder, model, history) == _sent(make(), model, history)


# Holds: provider-7
@random.cases(20)
@pytest.mark.parametrize("provider", ENCODERS)
@given(data=st.data())
def test_what_was_sent_is_sent_again_to_the_byte(provider: str, data: st.DataObject) -> None:
    make, models, own = ENCODERS[provider], MODELS[provider], OWN[provider]
    writers = mostly(*own)
    encoder = make()
    history = [_message(data.draw, each) for each in data.draw(random.conversations(writers))]
    before: bytes | None = None
    for _ in range(3):
        history += [_message(data.draw, each) for each in data.draw(random.rounds_of(writers))]
        request = ChatRequest.model_construct(messages=history, model=models[0])
        turns = encoder.encode(request).turns
        sent = b",".join(turns)
        if before is not None:
            assert sent.startswith(before)
        before = b",".join(turns[:-1])  # the last turn goes on


class Broken(Mapping[str, Any]):
    """A message that cannot be read."""

    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Any:
        raise KeyError("nothing here can be read")

    def __len__(self) -> int:
        return 2


@pytest.mark.parametrize("provider", ENCODERS)
def test_what_failed_halfway_leaves_nothing_behind(provider: str) -> None:
    make, models = ENCODERS[provider], MODELS[provider]
    encoder = make()
    ask = {"role": "user", "content": "A secret."}
    said = {"role": "assistant", "content": "Kept."}

    with pytest.raises(KeyError):
        _sent(encoder, models[0], [ask, said, ask, said, Broken()])
    other = [{"role": "user", "content": "Hello."}]
    assert _sent(encoder, models[0], other) == _sent(make(), models[0], other)
