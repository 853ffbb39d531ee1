"""Each provider over HTTP beside its strict server, so that one table of faults fits them all."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import anyio.lowlevel

from amplifier_core.message_models import ChatRequest, Message, ToolSpec
from amplifier_providers.anthropic.config import AnthropicConfig
from amplifier_providers.anthropic.provider import AnthropicProvider
from amplifier_providers.ollama import OllamaProvider
from amplifier_providers.ollama import read_config as read_ollama_config
from amplifier_providers.openai.config import OpenAIConfig
from amplifier_providers.openai.provider import OpenAIProvider
from amplifier_providers.openai_chat.config import ChatConfig, read_config
from amplifier_providers.openai_chat.provider import ChatProvider
from amplifier_providers.retries import Retries, RetrySettings
from amplifier_providers.wire.provider import WireProvider
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

KEY = "sk-a-very-secret-key"
PARAMETERS = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
REQUEST = ChatRequest(
    messages=[Message(role="user", content="hi")],
    tools=[ToolSpec(name="read_file", description="reads", parameters=PARAMETERS)],
)
ANSWER = Answer(
    Thinking("I need the file."),
    "Let me look at it. é😀",
    Call("read_file", {"path": "é/a.py"}, id="call_1a2b"),
)
"""An answer of which no part may get lost: it ends with a call."""


@dataclass(frozen=True)
class Service:
    """A provider, the strict server that it asks, and how its errors name things."""

    name: str
    title: str
    model: str
    other: str
    """Another model that it has."""
    path: str
    """Where requests go, after the base URL."""
    key_from: str
    address_from: str
    module: str
    server: Callable[..., ModelServer]
    provider: Callable[..., WireProvider]
    request_id: str = "(request id req_"
    """How errors begin to name a request; empty where the service gives it no id."""
    no_json: str = "is not JSON"
    """What errors say of an event that cannot be read."""
    broken_whole: tuple[str, str] = (
        " API error (invalid_stream): the response is not JSON: ",
        "no tool call of the answer was run; retry",
    )
    """What is said of a whole answer that is broken off, and the advice."""
    is_own: bool = False
    """Whether its users run it themselves, so that nobody starts it while a call waits."""
    unreachable: str = "check `{address}` and the network"
    """The advice where nobody is at an address."""
    kind: str = "text/event-stream"
    """The content type of its streams."""
    event: bytes = b"data: "
    """How an event of its streams begins."""
    idle: bytes = b": ping\n\n"
    """What its streams may say without content."""
    counts_cached: bool = True
    """Whether it counts the tokens that were in its cache."""

    def hint(self, text: str) -> str:
        return text.format(key=self.key_from, address=self.address_from)


def _anthropic(hooks: Any, retries: Retries, **settings: Any) -> WireProvider:
    config = AnthropicConfig(api_key=KEY, default_model="claude-opus-4-6", **settings)
    return AnthropicProvider(config, hooks, retries=retries)


def _openai(hooks: Any, retries: Retries, **settings: Any) -> WireProvider:
    config = OpenAIConfig(api_key=KEY, default_model="gpt-5.5", **settings)
    return OpenAIProvider(config, hooks, retries=retries)


def _chat(model: str, preset: str | None = None) -> Callable[..., WireProvider]:
    def make(hooks: Any, retries: Retries, **settings: Any) -> WireProvider:
        given = {"api_key": KEY, "default_model": model, **settings}
        config = read_config(given, {}, preset)
        assert isinstance(config, ChatConfig)
        return ChatProvider.of(config, hooks, retries=retries)

    return make


def _ollama(hooks: Any, retries: Retries, *, base_url: str, **settings: Any) -> WireProvider:
    given = {"api_key": KEY, "default_model": "qwen3:8b", "enable_thinking": True, **settings}
    config = read_ollama_config({"host": base_url, **given}, {})
    return OllamaProvider(config, hooks, retries=retries)


def _vendor(name: str) -> Callable[..., ModelServer]:
    return lambda *arguments, **options: ChatServer(*arguments, preset=name, **options)


SERVICES = {
    service.name: service
    for service in (
        Service(
            "anthropic", "Anthropic", "claude-opus-4-6", "claude-haiku-4-5", "/v1/messages",
            "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "provider-anthropic", AnthropicServer,
            _anthropic,
        ),
        Service(
            "openai", "OpenAI", "gpt-5.5", "gpt-5-mini", "/responses", "OPENAI_API_KEY",
            "OPENAI_BASE_URL", "provider-openai", ResponsesServer, _openai,
        ),
        Service(
            "openai-chat", "Chat Completions", "gpt-4.1", "gpt-4.1-mini", "/chat/completions",
            "OPENAI_API_KEY", "OPENAI_BASE_URL", "provider-openai-chat", _vendor("openai"),
            _chat("gpt-4.1"),
        ),
        Service(
            "mistral", "Mistral", "mistral-large", "mistral-small", "/chat/completions",
            "MISTRAL_API_KEY", "base_url", "provider-mistral", _vendor("mistral"),
            _chat("mistral-large", "mistral"),
        ),
        Service(
            "ollama", "Ollama", "qwen3:8b", "gpt-oss:20b", "/api/chat", "OLLAMA_API_KEY",
            "OLLAMA_HOST", "provider-ollama", OllamaServer, _ollama, request_id="",
            no_json="is not a JSON object",
            broken_whole=("the answer of `qwen3:8b` was cut off", "retry"),
            is_own=True, unreachable="is it running? `ollama serve`; its address is `{address}`",
            kind="application/x-ndjson", event=b'{"message":{"content":"',
            idle=b'{"message":{"role":"assistant","content":""},"done":false}\n',
            counts_cached=False,
        ),
    )
}  # fmt: skip
"""One service of each wire, and a vendor with errors of its own form."""


class Time:
    """Passes while someone waits."""

    def __init__(self) -> None:
        self.now = 0

    def clock(self) -> float:
        return self.now / 1e9

    async def sleep(self, seconds: float) -> None:
        await anyio.lowlevel.checkpoint()
        self.now += round(seconds * 1e9)


class Hooks:
    """Keeps the events."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        self.events.append((event, data))

    def names(self) -> list[str]:
        return [name for name, _ in self.events]

    def data(self, event: str) -> list[dict[str, Any]]:
        return [data for name, data in self.events if name == event]


@asynccontextmanager
async def provider_of(
    service: Service,
    url: str,
    hooks: Any = None,
    *,
    max_retries: int = 0,
    time: Time | None = None,
    jitter: bool = False,
    breaker_failures: int = 10,
    **settings: Any,
) -> AsyncGenerator[WireProvider]:
    """A provider that waits in a time of its own, and is closed at the end."""
    time = time or Time()
    retrying = RetrySettings(
        max_retries=max_retries, retry_jitter=jitter, breaker_failures=breaker_failures
    )
    retries = Retries(service.name, retrying, hooks, None, time.clock, time.sleep)
    provider = service.provider(
        hooks, retries, **{"base_url": url, "timeout": 20, "max_retries": max_retries, **settings}
    )
    try:
        yield provider
    finally:
        await cast("Any", provider).close()
