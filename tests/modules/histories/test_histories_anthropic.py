"""No history that was trimmed, forked, edited or written by others is refused by the Messages API."""

from __future__ import annotations

import json
from typing import Any

import conversations as random
from hypothesis import given
from hypothesis import strategies as st
from writers import ANTHROPIC, CLAUDES, OF_ANTHROPIC, mostly

from amplifier_core.llm_errors import InvalidRequestError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_providers.anthropic.config import AnthropicConfig
from amplifier_providers.anthropic.wire_format import AnthropicFormat

WRITERS = mostly(*OF_ANTHROPIC)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "reasoning_effort": st.sampled_from(["low", "high"]),
        "thinking_budget_tokens": st.sampled_from([0, 1, 4_000]),
        "temperature": st.just(0.5),
        "enable_prompt_caching": st.booleans(),
        "enable_web_search": st.booleans(),
    },
)
HEADERS = {"x-api-key": "k", "anthropic-version": "2023-06-01", "content-type": "application/json"}


def refusal(history: list[dict[str, Any]], settings: dict[str, Any], **request: Any) -> Any:
    """Why the server refuses the request, None if it takes it, or if there is nothing to send."""
    encoder = AnthropicFormat(AnthropicConfig(api_key="k", **settings))
    messages = [Message.model_construct(**message) for message in history]
    try:
        encoded = encoder.encode(ChatRequest.model_construct(messages=messages, **request))
    except InvalidRequestError as error:
        return None if str(error).startswith("no message to send") else error
    body = json.loads(encoded.to_bytes())
    return ANTHROPIC.judge(body, {**HEADERS, **encoded.headers})


# Holds: provider-4
@random.cases(100)
@given(
    random.conversations(WRITERS),
    st.sampled_from(CLAUDES),
    SETTINGS,
    random.TOOLS,
    st.sampled_from([None, 1.0]),
)
def test_no_history_is_refused(
    history: list[dict[str, Any]],
    model: str,
    settings: dict[str, Any],
    tools: list[Any],
    temperature: float | None,
) -> None:
    assert refusal(history, settings, model=model, tools=tools, temperature=temperature) is None
