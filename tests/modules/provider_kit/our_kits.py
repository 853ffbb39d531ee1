"""What the kit needs to know of our providers: a class each."""

from __future__ import annotations

from typing import Any

from amplifier_providers.anthropic.config import AnthropicConfig
from amplifier_providers.anthropic.provider import AnthropicProvider
from amplifier_providers.azure_openai import AzureOpenAIProvider
from amplifier_providers.azure_openai.config import read_config as read_azure
from amplifier_providers.azure_openai.deployment import DeploymentProvider
from amplifier_providers.ollama import OllamaProvider
from amplifier_providers.ollama import read_config as read_ollama
from amplifier_providers.openai.config import OpenAIConfig
from amplifier_providers.openai.provider import OpenAIProvider
from amplifier_providers.openai_chat.config import ChatConfig, read_config
from amplifier_providers.openai_chat.provider import ChatProvider
from amplifier_testing import ProviderKit
from amplifier_testing.servers import (
    AnthropicServer,
    ChatServer,
    ModelServer,
    OllamaServer,
    ResponsesServer,
)


class OurKit(ProviderKit):
    """Our providers wait in the time of `amplifier_core.world`."""

    patches_clocks = False
    stride = 7  # `make prove` cuts at each byte


class AnthropicKit(OurKit):
    server = AnthropicServer

    def provider(self, base_url: str, hooks: Any) -> Any:
        config = AnthropicConfig(
            api_key=self.key, base_url=base_url, default_model="claude-opus-4-6"
        )
        return AnthropicProvider(config, hooks)


class OpenAIKit(OurKit):
    server = ResponsesServer
    stride = 21  # its streams say everything three times

    def provider(self, base_url: str, hooks: Any) -> Any:
        config = OpenAIConfig(
            api_key=self.key, base_url=base_url, default_model="gpt-5.5", max_continuations=0
        )
        return OpenAIProvider(config, hooks)


class ChatKit(OurKit):
    server = ChatServer
    thinking = False  # Chat Completions of OpenAI keeps the thoughts

    def provider(self, base_url: str, hooks: Any) -> Any:
        given = {"api_key": self.key, "base_url": base_url, "default_model": "gpt-4.1"}
        config = read_config(given, {}, None)
        assert isinstance(config, ChatConfig)
        return ChatProvider.of(config, hooks)


class DeepSeekKit(OurKit):
    stride = 64  # the dialect is that of another one here
    images = False

    @staticmethod
    def server(*arguments: Any, **options: Any) -> ModelServer:
        return ChatServer(*arguments, preset="deepseek", **options)

    def provider(self, base_url: str, hooks: Any) -> Any:
        given = {"api_key": self.key, "base_url": base_url, "default_model": "deepseek-chat"}
        config = read_config(given, {}, "deepseek")
        assert isinstance(config, ChatConfig)
        return ChatProvider.of(config, hooks)


class AzureKit(OurKit):
    stride = 64  # the dialect is that of another one here
    models = False  # the resource lists what could be deployed, not what is

    @staticmethod
    def server(*arguments: Any, **options: Any) -> ModelServer:
        return ResponsesServer(*arguments, deployments={"prod": "gpt-5.5"}, **options)

    def base_url(self, server: Any) -> str:
        return server.azure_url

    def provider(self, base_url: str, hooks: Any) -> Any:
        config = read_azure(
            {
                "api_key": self.key, "endpoint": base_url, "default_deployment": "prod",
                "model_family": "gpt-5.5", "max_continuations": 0,
            },
            {},
        )  # fmt: skip
        assert not isinstance(config, str)
        return AzureOpenAIProvider(config, hooks)


class AzureDeploymentKit(OurKit):
    stride = 64  # the dialect is that of another one here
    models = False
    thinking = False

    @staticmethod
    def server(*arguments: Any, **options: Any) -> ModelServer:
        return ChatServer(*arguments, deployments={"prod": "gpt-4.1"}, **options)

    def base_url(self, server: Any) -> str:
        return f"{server.azure_url}/openai/deployments/prod"

    def provider(self, base_url: str, hooks: Any) -> Any:
        config = read_azure(
            {
                "api_key": self.key, "endpoint": base_url, "api_version": "2024-10-21",
                "model_family": "gpt-4.1",
            },
            {},
        )  # fmt: skip
        assert not isinstance(config, str)
        return DeploymentProvider(config, hooks)


class OllamaKit(OurKit):
    server = OllamaServer
    call_ids = False
    cached_tokens = False

    api = "native"

    def provider(self, base_url: str, hooks: Any) -> Any:
        given = {
            "api_key": self.key, "host": base_url, "default_model": "qwen3-vl:8b", "api": self.api,
            "enable_thinking": True,
        }  # fmt: skip
        config = read_ollama(given, {})
        return OllamaProvider(config, hooks)


class OllamaCompletionsKit(OllamaKit):
    stride = 64  # the dialect is that of another one here
    call_ids = True
    cached_tokens = True
    api = "openai"


KITS: tuple[type[OurKit], ...] = (
    AnthropicKit, OpenAIKit, ChatKit, DeepSeekKit, AzureKit, AzureDeploymentKit, OllamaKit,
    OllamaCompletionsKit,
)  # fmt: skip
