"""Our providers before strict servers: one for each way in which models are asked to think."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from amplifier_core.message_models import ChatRequest, Message, ToolSpec
from amplifier_providers import anthropic, azure_openai, ollama, openai, openai_chat
from amplifier_providers.azure_openai.deployment import DeploymentProvider
from amplifier_testing.servers import (
    AnthropicServer,
    ChatServer,
    ModelServer,
    OllamaServer,
    ResponsesServer,
)

LOOK = ToolSpec(name="look", parameters={"type": "object", "properties": {}})
USER = Message(role="user", content="hi")


class Service(NamedTuple):
    """A provider and its server."""

    server: Callable[[], ModelServer]
    provider: Callable[..., Any]
    """Makes the provider: of a server, an environment, hooks, and settings."""


def _anthropic(
    model: str, server: Any, environment: Mapping[str, str], hooks: Any = None, **settings: Any
) -> Any:
    given = {"default_model": model, "enable_prompt_caching": False, **settings}
    config = anthropic.read_config({"api_key": "k", "base_url": server.url, **given}, environment)
    assert config is not None
    return anthropic.AnthropicProvider(config, hooks)


def _openai(
    model: str, server: Any, environment: Mapping[str, str], hooks: Any = None, **settings: Any
) -> Any:
    given = {"api_key": "k", "base_url": server.url, "default_model": model, **settings}
    config = openai.read_config(given, environment)
    assert config is not None
    return openai.OpenAIProvider(config, hooks)


def _azure(
    family: str | None,
    server: Any,
    environment: Mapping[str, str],
    hooks: Any = None,
    **settings: Any,
) -> Any:
    given = {"api_key": "k", "endpoint": server.azure_url, "default_deployment": "prod"}
    config = azure_openai.read_config(
        {**given, **({"model_family": family} if family else {}), **settings}, environment
    )
    assert not isinstance(config, str)
    return azure_openai.AzureOpenAIProvider(config, hooks)


def _deployment(
    family: str | None,
    server: Any,
    environment: Mapping[str, str],
    hooks: Any = None,
    **settings: Any,
) -> Any:
    address = f"{server.azure_url}/openai/deployments/prod"
    given = {"api_key": "k", "endpoint": address, "api_version": "2024-10-21"}
    config = azure_openai.read_config(
        {**given, **({"model_family": family} if family else {}), **settings}, environment
    )
    assert not isinstance(config, str)
    return DeploymentProvider(config, hooks)


def _chat(
    preset: str | None,
    model: str,
    server: Any,
    environment: Mapping[str, str],
    hooks: Any = None,
    **settings: Any,
) -> Any:
    given = {"api_key": "k", "base_url": server.url, "default_model": model, **settings}
    config = openai_chat.read_config(given, environment, preset)
    assert not isinstance(config, str)
    return openai_chat.ChatProvider.of(config, hooks)


def _ollama(
    model: str, server: Any, environment: Mapping[str, str], hooks: Any = None, **settings: Any
) -> Any:
    config = ollama.read_config(
        {"host": server.root, "default_model": model, **settings}, environment
    )
    return ollama.OllamaProvider(config, hooks)


def _of_azure(model: str) -> Callable[[], ModelServer]:
    return partial(ResponsesServer, deployments={"prod": model})


def _of_deployment(model: str) -> Callable[[], ModelServer]:
    return partial(ChatServer, deployments={"prod": model})


SERVICES: dict[str, Service] = {
    "claude with a budget": Service(AnthropicServer, partial(_anthropic, "claude-sonnet-4-5")),
    "claude that adapts": Service(AnthropicServer, partial(_anthropic, "claude-opus-4-6")),
    "claude that always thinks": Service(AnthropicServer, partial(_anthropic, "claude-opus-5-5")),
    "claude without thinking": Service(AnthropicServer, partial(_anthropic, "claude-3-5-haiku")),
    "gpt that can stop": Service(ResponsesServer, partial(_openai, "gpt-5.5")),
    "gpt that cannot stop": Service(ResponsesServer, partial(_openai, "gpt-5")),
    "gpt without reasoning": Service(ResponsesServer, partial(_openai, "gpt-4.1")),
    "azure": Service(_of_azure("gpt-5"), partial(_azure, "gpt-5")),
    "azure of no known family": Service(_of_azure("gpt-5"), partial(_azure, None)),
    "deployment": Service(_of_deployment("gpt-5"), partial(_deployment, "gpt-5")),
    "deployment of no known family": Service(_of_deployment("gpt-5"), partial(_deployment, None)),
    "openai-chat": Service(ChatServer, partial(_chat, None, "gpt-5.1")),
    "groq": Service(partial(ChatServer, preset="template"), partial(_chat, "groq", "qwen")),
    "openrouter": Service(
        partial(ChatServer, preset="openrouter"), partial(_chat, "openrouter", "a/b")
    ),
    "deepseek": Service(
        partial(ChatServer, preset="deepseek"), partial(_chat, "deepseek", "deepseek-v4")
    ),
    "mistral": Service(partial(ChatServer, preset="mistral"), partial(_chat, "mistral", "m")),
    "ollama": Service(OllamaServer, partial(_ollama, "qwen3-vl:8b")),
    "ollama at /v1": Service(OllamaServer, partial(_ollama, "qwen3-vl:8b", api="openai")),
    "ollama with levels": Service(OllamaServer, partial(_ollama, "gpt-oss:20b")),
    "ollama without thinking": Service(OllamaServer, partial(_ollama, "llama3.2:latest")),
}


def request(**fields: Any) -> ChatRequest:
    """Return a request of one message of the user."""
    return ChatRequest(**{"messages": [USER], **fields})


def body_of(server: ModelServer) -> dict[str, Any]:
    """Return what the server was asked last."""
    return server.requests[-1].body


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is different in a body: each key with its new value, None where it is gone."""
    keys = sorted(before.keys() | after.keys())
    return {key: after.get(key) for key in keys if before.get(key) != after.get(key)}


def degradations(response: Any) -> list[tuple[str, str]]:
    """Return what was not done as requested: what was requested, and what was done."""
    listed = (response.metadata or {}).get("degradations")
    if listed is None:
        listed = [] if response.degradation is None else [response.degradation.model_dump()]
    return [(each["requested"], each["actual"]) for each in listed]
