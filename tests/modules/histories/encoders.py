"""The encoders of the providers, each with two models that it is asked for."""

from __future__ import annotations

from functools import partial
from typing import Any

from writers import CLAUDES, GPTS, OF_SERVICES, OLLAMA

from amplifier_providers.anthropic.config import AnthropicConfig
from amplifier_providers.anthropic.wire_format import AnthropicFormat
from amplifier_providers.ollama import read_config
from amplifier_providers.ollama.models import ModelFacts
from amplifier_providers.ollama.wire_format import OllamaFormat
from amplifier_providers.openai.config import OpenAIConfig
from amplifier_providers.openai_chat import PRESETS, ChatSettings
from amplifier_providers.openai_chat.wire_format import ChatFormat
from amplifier_providers.responses.wire_format import ResponsesFormat


def _anthropic() -> Any:
    return AnthropicFormat(AnthropicConfig(api_key="k"))


def _openai() -> Any:
    return ResponsesFormat("openai", OpenAIConfig(api_key="k", default_model=GPTS[0]))


def _chat(service: str) -> Any:
    return ChatFormat(PRESETS[service], ChatSettings(default_model="m"))


def _ollama() -> Any:
    facts = {model.name: ModelFacts.of(model.shown) for model in OLLAMA.models}
    return OllamaFormat(read_config({}, {}), facts.__getitem__)


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
