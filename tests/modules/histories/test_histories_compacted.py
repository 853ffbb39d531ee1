"""No history that a context has shortened is refused by a provider, however little room it had."""

from __future__ import annotations

import json
from typing import Any

import conversations as random
import pytest
from encoders import ENCODERS, MODELS
from hypothesis import given
from hypothesis import strategies as st
from writers import ANTHROPIC, CHAT, OF_ANTHROPIC, OF_OPENAI, OF_SERVICES, OLLAMA, RESPONSES, mostly

from amplifier_core.llm_errors import InvalidRequestError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_modules.contexts.compaction import CompactionSettings, View, compact

KEY = {"x-api-key": "k", "authorization": "Bearer k", "anthropic-version": "2023-06-01"}
SERVERS: dict[str, Any] = {
    "anthropic": (ANTHROPIC, OF_ANTHROPIC),
    "openai": (RESPONSES, OF_OPENAI),
    "ollama": (OLLAMA, (OF_SERVICES["ollama"],)),
    "mistral": (CHAT["mistral"], (OF_SERVICES["mistral"],)),
    "openrouter": (CHAT["openrouter"], (OF_SERVICES["openrouter"],)),
}
NOTICES = st.sampled_from(["none", "short", "detailed"])


def refusal(provider: str, history: list[dict[str, Any]]) -> Any:
    """Why the server refuses the request, None if it takes it, or if there is nothing to send."""
    model = MODELS[provider][0]
    messages = [Message.model_construct(**message) for message in history]
    request = ChatRequest.model_construct(messages=messages, model=model)
    try:
        encoded = ENCODERS[provider]().encode(request)
    except InvalidRequestError as error:
        return None if str(error).startswith("no message to send") else error
    body, server = json.loads(encoded.to_bytes()), SERVERS[provider][0]
    if server is OLLAMA:
        return server.judge(body)
    headers = {**KEY, "content-type": "application/json", **getattr(encoded, "headers", {})}
    return server.judge(body, headers)


@random.cases(40)
@pytest.mark.parametrize("provider", SERVERS)
@given(data=st.data(), budget=st.integers(1, 400), notice=NOTICES, summary=st.booleans())
def test_no_shortened_history_is_refused(
    provider: str, data: st.DataObject, budget: int, notice: Any, summary: bool
) -> None:
    history = data.draw(random.conversations(mostly(*SERVERS[provider][1])))
    view = View(summary="They looked." if summary else None)
    for message in history:
        view.add(message)
    settings = CompactionSettings(compaction_notice=notice, truncate_chars=1)
    once = compact(view, budget, settings)
    for shown in (once, compact(once, budget // 3, settings)):
        assert refusal(provider, shown.messages) is None
