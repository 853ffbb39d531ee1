"""No history that was trimmed, forked, edited or written by others is refused by the Messages API."""

from __future__ import annotations

import json
from typing import Any

import conversations as random
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.llm_errors import InvalidRequestError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_modules.providers.anthropic.config import AnthropicConfig
from amplifier_modules.providers.anthropic.request import AnthropicEncoder
from amplifier_modules.testing.servers import AnthropicServer

MODELS = (
    "claude-sonnet-4-5", "claude-haiku-4-5-20251001", "claude-opus-4-6", "claude-sonnet-5-5",
    "claude-opus-4-1", "claude-3-5-haiku-latest",
)  # fmt: skip
SERVER = AnthropicServer(secret=b"equal in each run")


def _signed(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": SERVER.sign(text)}


def _hidden(text: str) -> dict[str, Any]:
    return {"type": "redacted_thinking", "data": SERVER.redact(text)}


def _foreign(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": "of another service"}


def _reasoned(text: str) -> dict[str, Any]:
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "abc"}
    return {"type": "thinking", "thinking": text, "item": item}


SEARCH = {
    "type": "server_tool_use",
    "id": "srvtoolu_1",
    "name": "web_search",
    "input": {"query": "a"},
}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
WRITERS = (
    random.Writer("anthropic", MODELS[0], _signed, (SEARCH, FOUND)),
    random.Writer("anthropic", MODELS[3], _hidden),
    random.Writer(None, MODELS[0], _signed),
    random.Writer("openai", "gpt-5.5", _reasoned, ({"type": "web_search_call", "id": "ws_1"},)),
    random.Writer("groq", "llama", _foreign),
)
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
    encoder = AnthropicEncoder(AnthropicConfig(api_key="k", **settings))
    messages = [Message.model_construct(**message) for message in history]
    try:
        encoded = encoder.encode(ChatRequest.model_construct(messages=messages, **request))
    except InvalidRequestError as error:
        return None if str(error).startswith("no message to send") else error
    body = json.loads(encoded.to_bytes())
    return SERVER.judge(body, {**HEADERS, **encoded.headers})


@given(
    random.conversations(WRITERS),
    st.sampled_from(MODELS),
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
