"""Each provider that speaks a dialect of its own, beside its strict server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from amplifier_testing.servers import (
    AnthropicServer,
    ChatServer,
    ModelServer,
    OllamaServer,
    ResponsesServer,
)
from arcllm import LLMResponse, Model, ModelStream, load_model
from arcllm.providers.open import open_provider
from arcllm.step import Call, Step

KEY = "sk-a-very-secret-key"


@dataclass(frozen=True)
class Service:
    """A provider and its server."""

    name: str
    model: str
    server: Callable[..., ModelServer]
    address: str = "base_url"
    """The setting with the address."""
    url: Callable[[Any], str] = lambda server: server.url
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    options: dict[str, Any] = field(default_factory=lambda: {"reasoning_effort": "high"})
    """The options of calls that are to be thought about."""
    replays: bool = True
    """Whether its thoughts go back to it."""

    def open(self, server: Any, **settings: Any) -> Step:
        """Return the step that asks a server."""
        return open_provider(self.name, self.model, self._given(server, settings))

    def load(self, server: Any, **settings: Any) -> Model:
        """Return the model that asks a server, as programs load it."""
        return load_model(self.name, self.model, **self._given(server, settings))

    @asynccontextmanager
    async def asking(
        self, answers: Iterable[Any] = (), **options: Any
    ) -> AsyncGenerator[tuple[Step, Any]]:
        """Give the step and the server, and close both at the end."""
        with self.server(answers, api_key=KEY, **options) as server:
            step = self.open(server)
            try:
                yield step, server
            finally:
                await step.close()

    def _given(self, server: Any, settings: dict[str, Any]) -> dict[str, Any]:
        return {"api_key": KEY, self.address: self.url(server), **self.settings, **settings}


class LoadedStep:
    """A loaded model that is asked as a step is."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.name, self.model_name, self.close = model.name, model.model_name, model.close

    async def complete(self, call: Call) -> LLMResponse:
        """Ask for the whole answer."""
        return await self.model.complete(call.messages, call.tools, **call.options)

    def stream(self, call: Call) -> ModelStream[LLMResponse]:
        """Ask for a stream."""
        return self.model.stream(call.messages, call.tools, **call.options)


def _deepseek(*arguments: Any, **options: Any) -> ModelServer:
    return ChatServer(*arguments, preset="deepseek", **options)


def _azure(*arguments: Any, **options: Any) -> ModelServer:
    return ResponsesServer(*arguments, deployments={"prod": "gpt-5.5"}, **options)


def _deployment(*arguments: Any, **options: Any) -> ModelServer:
    return ChatServer(*arguments, deployments={"prod": "gpt-4.1"}, **options)


SERVICES = {
    "anthropic": Service("anthropic", "claude-opus-4-6", AnthropicServer),
    "openai": Service("openai", "gpt-5.5", ResponsesServer),
    "openai_chat": Service("openai_chat", "gpt-4.1", ChatServer, options={}, replays=False),
    "deepseek": Service("deepseek", "deepseek-chat", _deepseek),
    "ollama": Service(
        "ollama", "qwen3-vl:8b", OllamaServer, address="host", settings={"enable_thinking": True}
    ),
    "ollama_completions": Service(
        "ollama",
        "qwen3-vl:8b",
        OllamaServer,
        address="host",
        settings={"enable_thinking": True, "api": "openai"},
    ),
    "azure_openai": Service(
        "azure_openai",
        "prod",
        _azure,
        address="endpoint",
        url=lambda server: server.azure_url,
        settings={"model_family": "gpt-5.5"},
    ),
    "azure_deployment": Service(
        "azure_openai",
        "prod",
        _deployment,
        address="endpoint",
        url=lambda server: f"{server.azure_url}/openai/deployments/prod",
        settings={"model_family": "gpt-4.1", "api_version": "2024-10-21"},
        options={},
        replays=False,
    ),
}
