"""No history that was trimmed, forked, edited or written by others is refused by the Responses API."""

from __future__ import annotations

import json
from typing import Any

import pytest

servers = pytest.importorskip("amplifier_modules.testing.servers")

import conversations as random  # pyright: ignore[reportMissingImports] -- beside this file
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_core.llm_errors import InvalidRequestError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_modules.providers.openai.config import OpenAIConfig
from amplifier_modules.providers.responses.request import ResponsesEncoder

MODELS = ("gpt-5.5", "gpt-5", "gpt-5-mini-2025-08-07", "gpt-4.1", "o3-mini", "o4-mini", "gpt-4o")
SERVER = servers.ResponsesServer(secret=b"equal in each run")
HEADERS = {"authorization": "Bearer k", "content-type": "application/json"}


def _reasoned(text: str) -> dict[str, Any]:
    item = {
        "type": "reasoning",
        "id": f"rs_{text}",
        "summary": [{"type": "summary_text", "text": text}],
        "encrypted_content": SERVER.encrypt(f"rs_{text}", text),
        "status": None,
    }
    return {"type": "thinking", "thinking": text, "item": item}


def _led_to_a_message(text: str) -> dict[str, Any]:
    return {**_reasoned(text), "led_to": "message"}


def _foreign(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": "of another service"}


SEARCH = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "a"},
}
SAID = {
    "type": "text",
    "text": "Said.",
    "item": {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "phase": "final_answer",
        "content": [
            {"type": "output_text", "text": "Said.", "annotations": [], "logprobs": []},
        ],
    },
}
CALLED = {
    "type": "tool_call",
    "id": "call_9",
    "name": "look",
    "input": {"at": "a"},
    "item": {
        "type": "function_call",
        "id": "fc_9",
        "call_id": "call_9",
        "name": "look",
        "arguments": '{"at": "a"}',
        "status": "completed",
    },
}
WRITERS = (
    random.Writer("openai", MODELS[0], _reasoned, (SEARCH, SAID)),
    random.Writer("openai", MODELS[5], _led_to_a_message, (SAID, CALLED)),
    random.Writer(None, MODELS[0], _reasoned),
    random.Writer("azure-openai", MODELS[0], _foreign, (SEARCH, SAID, CALLED)),
    random.Writer("anthropic", "claude-sonnet-4-5", _foreign),
)
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
    encoder = ResponsesEncoder("openai", checked, checked.default_model)
    messages = [Message.model_construct(**message) for message in history]
    try:
        encoded = encoder.encode(ChatRequest.model_construct(messages=messages, **request))
    except InvalidRequestError as error:
        return None if str(error).startswith("no message to send") else error
    return SERVER.judge(json.loads(encoded.to_bytes()), HEADERS)


@settings(max_examples=max(settings().max_examples, 300))
@given(
    random.conversations(WRITERS),
    st.sampled_from([MODELS[0], MODELS[5], MODELS[0], MODELS[5], *MODELS]),  # mostly the writers
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
