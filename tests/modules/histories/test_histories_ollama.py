"""No history that was trimmed, forked, edited or written by others is refused by Ollama."""

from __future__ import annotations

import json
from typing import Any

import conversations as random
import pytest
from hypothesis import given
from hypothesis import strategies as st
from writers import OF_SERVICES, OLLAMA, mostly

from amplifier_core.llm_errors import InvalidRequestError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_providers.ollama import read_config
from amplifier_providers.ollama.completions import CompletionsFormat
from amplifier_providers.ollama.models import ModelFacts
from amplifier_providers.ollama.wire_format import OllamaFormat
from amplifier_testing.servers.ollama import completions

FACTS = {model.name: ModelFacts.of(model.shown) for model in OLLAMA.models}
MODELS = [name for name, facts in FACTS.items() if facts.can_do("tools")]
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "enable_thinking": st.booleans(),
        "reasoning_effort": st.sampled_from(["none", "low", "xhigh"]),
        "temperature": st.just(0.5),
        "max_tokens": st.sampled_from([1, 4_000]),
        "num_ctx": st.just(4_096),
        "keep_alive": st.sampled_from(["5m", -1]),
    },
)
CHOICES = st.sampled_from([None, "auto", "none", "any"])


def refusal(api: str, history: list[Any], given: dict[str, Any], **request: Any) -> Any:
    """Why the server refuses the request, None if it takes it, or if there is nothing to send."""
    config = read_config({**given, "api": api}, {})
    make = OllamaFormat if api == "native" else CompletionsFormat
    messages = [Message.model_construct(**message) for message in history]
    try:
        encoded = make(config, FACTS.__getitem__).encode(
            ChatRequest.model_construct(messages=messages, **request)
        )
    except InvalidRequestError as error:
        return None if str(error).startswith("no message to send") else error
    body = json.loads(encoded.to_bytes())
    return OLLAMA.judge(body) if api == "native" else completions.judge(body, OLLAMA.models)


@random.cases(50)
@pytest.mark.parametrize("api", ["native", "openai"])
@given(
    history=random.conversations(mostly(OF_SERVICES["ollama"])),
    model=st.sampled_from(MODELS),
    given=SETTINGS,
    tools=random.TOOLS,
    choice=CHOICES,
)
def test_no_history_is_refused(
    api: str,
    history: list[Any],
    model: str,
    given: dict[str, Any],
    tools: list[Any],
    choice: str | None,
) -> None:
    assert refusal(api, history, given, model=model, tools=tools, tool_choice=choice) is None
