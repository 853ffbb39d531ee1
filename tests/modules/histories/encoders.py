"""The encoders of the providers, each with two models that it is asked for."""

from __future__ import annotations

from functools import partial
from typing import Any

from writers import CLAUDES, GPTS, OF_SERVICES, OLLAMA

from amplifier_providers.anthropic.config import AnthropicConfig
from amplifier_providers.anthropic.request import AnthropicEncoder
from amplifier_providers.ollama import read_config
from amplifier_providers.ollama.models import ModelFacts
from amplifier_providers.ollama.request import OllamaEncoder
from amplifier_providers.openai.config import OpenAIConfig
from amplifier_providers.openai_chat import PRESETS, ChatSettings
from amplifier_providers.openai_chat.request import ChatEncoder
from amplifier_providers.responses.request import ResponsesEncoder


def _anthropic() -> Any:
    return AnthropicEncoder(AnthropicConfig(api_key="k"))


def _openai() -> Any:
    return ResponsesEncoder("openai", OpenAIConfig(api_key="k"), GPTS[0])


def _chat(service: str) -> Any:
    return ChatEncoder(PRESETS[service], ChatSettings(default_model="m"))


def _ollama() -> Any:
    facts = {model.name: ModelFacts.of(model.shown) for model in OLLAMA.models}
    return OllamaEncoder(read_config({}, {}), facts.__getitem__)


_SERVICES = ("mistral", "deepseek", "openrouter", "groq", "vllm")
ENCODERS = {
    "anthropic": _anthropic,
    "openai": _openai,
    "ollama": _ollama,
    **{name: partial(_chat, name) for name in _SERVICES},
}
MODELS: dict[str, tuple[str, str]] = {
    "anthropic": (CLAUDES[0], CLAUDES[3]),
    "openai": (GPTS[0], GPTS[5]),
    "ollama": (OF_SERVICES["ollama"].model, "llama3.2:latest"),
    **{name: (OF_SERVICES[name].model, "other") for name in _SERVICES},
}
