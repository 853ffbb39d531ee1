"""Tools and calls whose names a service does not take have others on the wire, and only there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from amplifier_core.message_models import ChatRequest, Message, ToolSpec
from amplifier_providers import anthropic, ollama, openai, openai_chat
from amplifier_providers.anthropic.turns import TOOL_NAMES as OF_ANTHROPIC
from amplifier_providers.openai_chat.config import ChatConfig
from amplifier_providers.responses.turns import TOOL_NAMES as OF_OPENAI
from amplifier_providers.wire.rules import NameForm
from amplifier_testing.servers import (
    Answer,
    AnthropicServer,
    Call,
    ChatServer,
    ModelServer,
    OllamaServer,
    ResponsesServer,
    Thinking,
)

NAMES = ["mcp.server/tool", "n" * 140, "two words", "werkzeug_é", "plain"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def _anthropic(url: str) -> Any:
    config = anthropic.read_config({"api_key": "k", "base_url": url}, {})
    assert config is not None
    return anthropic.AnthropicProvider(config)


def _openai(url: str) -> Any:
    config = openai.read_config({"api_key": "k", "base_url": url}, {})
    assert config is not None
    return openai.OpenAIProvider(config)


def _chat(preset: str, model: str) -> Callable[[str], Any]:
    def make(url: str) -> Any:
        given = {"preset": preset, "api_key": "k", "base_url": url, "default_model": model}
        config = openai_chat.read_config(given, {})
        assert isinstance(config, ChatConfig)
        return openai_chat.ChatProvider.of(config)

    return make


def _ollama(url: str) -> Any:
    return ollama.OllamaProvider(ollama.read_config({"host": url, "default_model": "qwen3:8b"}, {}))


DIALECTS: list[Any] = [
    pytest.param(AnthropicServer, _anthropic, OF_ANTHROPIC, id="anthropic"),
    pytest.param(ResponsesServer, _openai, OF_OPENAI, id="responses"),
    pytest.param(
        lambda: ChatServer(preset="mistral"),
        _chat("mistral", "magistral"),
        NameForm(),
        id="mistral",
    ),
    pytest.param(OllamaServer, _ollama, NameForm(), id="ollama"),
    pytest.param(
        lambda: ChatServer(preset="openai"), _chat("groq", "gpt-4o"), NameForm(), id="chat"
    ),
]


# Holds: provider-24
@pytest.mark.parametrize(("server", "make", "form"), DIALECTS)
async def test_a_call_reaches_the_loop_under_the_name_of_its_tool(
    server: Callable[[], ModelServer], make: Callable[[str], Any], form: NameForm
) -> None:
    tools = [ToolSpec(name=name, parameters={}) for name in NAMES]
    question = Message(role="user", content="Call all of them.")
    with server() as running:
        running.answers = [
            Answer(Thinking("All."), *(Call(form.fit_name(name), {"at": name}) for name in NAMES)),
            "Done.",
        ]
        provider = make(running.url)
        try:
            response = await provider.complete(ChatRequest(messages=[question], tools=tools))
            calls = response.tool_calls
            assert [call.name for call in calls] == NAMES
            said = Message(role="assistant", content=response.content, metadata=response.metadata)
            results = [Message(role="tool", tool_call_id=call.id, content="ok") for call in calls]
            history = [question, said, *results]
            response = await provider.complete(ChatRequest(messages=history, tools=tools))
        finally:
            await provider.close()
        assert running.refusals == []
        assert response.content[-1].text == "Done."
        sent = running.requests[-1].raw.decode()
    assert all(sent.count(f'"{form.fit_name(name)}"') >= 2 for name in NAMES)
    assert all(f'"name":"{name}"' not in sent for name in NAMES if form.fit_name(name) != name)
