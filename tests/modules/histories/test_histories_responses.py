"""No history that was trimmed, forked, edited or written by others is refused by the Responses API."""

from __future__ import annotations

import json
from typing import Any

import conversations as random
from hypothesis import given
from hypothesis import strategies as st
from writers import GPTS, OF_OPENAI, RESPONSES, mostly

from amplifier_core.llm_errors import InvalidRequestError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_providers.openai.config import OpenAIConfig
from amplifier_providers.responses.wire_format import ResponsesFormat

HEADERS = {"authorization": "Bearer k", "content-type": "application/json"}


WRITERS = mostly(*OF_OPENAI)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "reasoning_effort": st.sampled_from(["none", "minimal", "high", "xhigh", "max"]),
        "temperature": st.just(0.5),
        "max_tokens": st.sampled_from([1, 200_000]),
        "tools": st.just(({"type": "web_search"},)),
        "parallel_tool_calls": st.booleans(),
        "prompt_cache_key": st.just("k" * 100),
    },
)
CHOICES = st.sampled_from([None, "auto", "none", "any"])


def refusal(history: list[dict[str, Any]], config: dict[str, Any], **request: Any) -> Any:
    """Why the server refuses the request, None if it takes it, or if there is nothing to send."""
    checked = OpenAIConfig(api_key="k", **config)
    encoder = ResponsesFormat("openai", checked)
    messages = [Message.model_construct(**message) for message in history]
    try:
        encoded = encoder.encode(ChatRequest.model_construct(messages=messages, **request))
    except InvalidRequestError as error:
        return None if str(error).startswith("no message to send") else error
    return RESPONSES.judge(json.loads(encoded.to_bytes()), HEADERS)


# Holds: provider-4
@random.cases(100)
@given(
    random.conversations(WRITERS),
    st.sampled_from([GPTS[0], GPTS[5], GPTS[0], GPTS[5], *GPTS]),  # mostly the writers
    SETTINGS,
    random.TOOLS,
    CHOICES,
    st.sampled_from([None, 1.0]),
)
def test_no_history_is_refused(
    history: list[dict[str, Any]],
    model: str,
    config: dict[str, Any],
    tools: list[Any],
    choice: str | None,
    temperature: float | None,
) -> None:
    asked = {"model": model, "tools": tools, "tool_choice": choice, "temperature": temperature}
    assert refusal(history, config, **asked) is None
