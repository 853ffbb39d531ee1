"""No history that was trimmed, forked, edited or written by others is refused by a vendor of the dialect."""

from __future__ import annotations

import json
from typing import Any

import conversations as random
import pytest
from hypothesis import given
from hypothesis import strategies as st
from writers import CHAT, OF_SERVICES, mostly

from amplifier_core.llm_errors import InvalidRequestError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_providers.openai_chat import PRESETS, ChatSettings
from amplifier_providers.openai_chat.config import with_settings
from amplifier_providers.openai_chat.presets import OTHER
from amplifier_providers.openai_chat.wire_format import ChatFormat

SERVICES = {
    "openai-chat": ("openai", "gpt-4o"),
    "groq": ("openai", "gpt-4o"),
    "xai": ("openai", "gpt-4o"),
    "together": ("openai", "gpt-4o"),
    "fireworks": ("openai", "gpt-4o"),
    "mistral": ("mistral", "magistral"),
    "deepseek": ("deepseek", "deepseek-v4"),
    "openrouter": ("openrouter", "anthropic/claude-sonnet-4.5"),
    "vllm": ("template", "qwen"),
    "lm-studio": ("template", "qwen"),
    "llama-cpp": ("template", "qwen"),
    "huggingface-tgi": ("template", "qwen"),
    "huggingface": ("openai", "gpt-4o"),
}
"""The vendor whose rules stand for a service, and a model."""
HEADERS = {"authorization": "Bearer k", "content-type": "application/json"}
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "vision": st.just(False),
        "temperature": st.just(0.5),
        "max_tokens": st.sampled_from([1, 4_000]),
        "parallel_tool_calls": st.booleans(),
    },
)
CHOICES = st.sampled_from([None, "auto", "none", "any"])


def refusal(service: str, history: list[Any], given: dict[str, Any], **request: Any) -> Any:
    """Why the server refuses the request, None if it takes it, or if there is nothing to send."""
    vendor, model = SERVICES[service]
    settings = ChatSettings(default_model=model, **given)
    encoder = ChatFormat(with_settings(PRESETS.get(service, OTHER), settings), settings)
    messages = [Message.model_construct(**message) for message in history]
    try:
        encoded = encoder.encode(ChatRequest.model_construct(messages=messages, **request))
    except InvalidRequestError as error:
        return None if str(error).startswith("no message to send") else error
    return CHAT[vendor].judge(json.loads(encoded.to_bytes()), {**HEADERS, **encoded.headers})


def test_every_service_is_tried() -> None:
    assert set(SERVICES) == {*PRESETS, OTHER.name}


# Holds: provider-4
@random.cases(30)
@pytest.mark.parametrize("service", SERVICES)
@given(data=st.data(), given=SETTINGS, tools=random.TOOLS, choice=CHOICES)
def test_no_history_is_refused(
    service: str, data: st.DataObject, given: dict[str, Any], tools: list[Any], choice: str | None
) -> None:
    own = OF_SERVICES.get(service, OF_SERVICES["openai-chat"])
    history = data.draw(random.conversations(mostly(own)))
    assert refusal(service, history, given, tools=tools, tool_choice=choice) is None
