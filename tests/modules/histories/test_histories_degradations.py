"""What a request says about the repairs of its history."""

from __future__ import annotations

from typing import Any

import conversations as random
import pytest
from encoders import ENCODERS, MODELS
from hypothesis import given
from hypothesis import strategies as st
from writers import EVERYBODY

from amplifier_core.llm_errors import InvalidRequestError
from amplifier_core.message_models import ChatRequest, Message

BLIND = {"openai": "o3-mini", "deepseek": "deepseek-v4", "ollama": "llama3.2:latest"}
"""Models that see no images."""


def encoded(encoder: Any, model: str, history: list[dict[str, Any]]) -> Any:
    """The request, None if there is nothing to send."""
    messages = [Message.model_construct(**message) for message in history]
    try:
        return encoder.encode(ChatRequest.model_construct(messages=messages, model=model))
    except InvalidRequestError as error:
        assert str(error).startswith("no message to send")  # noqa: PT017 -- one of two outcomes
        return None


def blocks(message: dict[str, Any]) -> list[Any]:
    content = message["content"]
    return content if isinstance(content, list) else []


# Holds: provider-8
@random.cases(20)
@pytest.mark.parametrize("provider", ENCODERS)
@given(history=random.conversations(EVERYBODY))
def test_whoever_wrote_thinking_that_is_left_out_is_named(
    provider: str, history: list[dict[str, Any]]
) -> None:
    make, (model, _) = ENCODERS[provider], MODELS[provider]
    request = encoded(make(), model, history)
    if request is None:
        return
    foreign = {
        message["metadata"]["provider"]
        for message in history
        if message.get("metadata", {}).get("provider", provider) != provider
        and any(block["type"].endswith("thinking") for block in blocks(message))
    }
    named = " ".join(
        each.requested for each in request.degradations if each.requested.startswith("thinking of ")
    )
    assert {writer for writer in foreign if f"`{writer}`" not in named} == set()
    assert not foreign or all(
        each.actual == "left out" and each.reason == f"`{model}` reads only its own"
        for each in request.degradations
        if each.requested.startswith("thinking of ")
    )


@random.cases(20)
@pytest.mark.parametrize("provider", BLIND)
@given(history=random.conversations(EVERYBODY))
def test_images_that_a_model_cannot_see_become_text_that_says_so(
    provider: str, history: list[dict[str, Any]]
) -> None:
    make, model = ENCODERS[provider], BLIND[provider]
    request = encoded(make(), model, history)
    if request is None:
        return
    body = request.to_bytes().decode()
    shown = sum(
        block["type"] == "image"
        for message in history
        if message["role"] == "user"
        for block in blocks(message)
    )
    assert body.count(f"was here, which `{model}` cannot see.)") >= shown
    assert '"image_url"' not in body
    assert '"input_image"' not in body
    assert '"images"' not in body
    named = [each for each in request.degradations if each.actual == "text that names them"]
    assert not shown or "`image`" in named[0].requested


@random.cases(20)
@pytest.mark.parametrize("provider", ENCODERS)
@given(
    history=st.lists(
        st.sampled_from(
            [
                {"role": "assistant", "content": ""},
                {"role": "user", "content": " \n"},
                {"role": "user", "content": [{"type": "text", "text": ""}]},
                {"role": "system", "content": "Be kind."},
                {"role": "tool", "tool_call_id": "1", "content": "an orphan"},
                {
                    "role": "assistant",
                    "content": [{"type": "thinking", "thinking": "hm"}],
                    "metadata": {"provider": "other"},
                },
            ]
        )
    )
)
def test_a_history_with_nothing_to_say_is_an_error(
    provider: str, history: list[dict[str, Any]]
) -> None:
    make, (model, _) = ENCODERS[provider], MODELS[provider]
    messages = [Message.model_construct(**message) for message in history]
    with pytest.raises(InvalidRequestError, match=r"^no message to send"):
        make().encode(ChatRequest.model_construct(messages=messages, model=model))
