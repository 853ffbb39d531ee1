"""The settings of `provider-ollama`, and what helps against the errors of its server."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from amplifier_core import llm_errors
from amplifier_core.llm_errors import LLMError

from ..services import OLLAMA
from ..settings import Env, OptionalText, SettingError, read_settings
from ..value_problems import Form
from ..wire.service import Service
from ..wire.settings import ApiKey, HttpSettings
from .address import LOCAL, server_address

_MISSING = re.compile(r"model\b.*\bnot found")


PROVIDER = OLLAMA.name
"""The name under which the provider is mounted, and by which errors and events name it."""
MODULE = f"provider-{PROVIDER}"
_ADDRESS = Form("an address like `host`, `host:port`, `:port` or `http://host:port`")
_DURATION = re.compile(r"[-+]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+)")
_OF_THE_OWN_API = ("num_ctx", "keep_alive")


def advise(error_class: type[LLMError], text: str, model: str | None) -> str | None:
    """Return the advice on an error; None for the usual one.

    Args:
        error_class: The type of the error.
        text: What the server, or the system, says.
        model: The model that was asked.
    """
    if issubclass(error_class, llm_errors.NetworkError):
        return "is it running? `ollama serve`; its address is `OLLAMA_HOST`"
    if issubclass(error_class, llm_errors.NotFoundError) and _MISSING.search(text):
        return f"`ollama pull {model}`, or set `auto_pull` of provider-ollama"
    if "does not support tools" in text:
        return "set `tool_tags` of provider-ollama to true: the model then writes its calls as tags"
    if issubclass(error_class, llm_errors.ContextLengthError) and "context" in text:
        return "shorten the conversation, or raise `num_ctx` of provider-ollama"
    return None


SERVICE = Service.of(OLLAMA, advise)


def _address(text: str | None) -> str | None:
    return None if text is None or not text.strip() else server_address(text)


def _check_duration(value: str | float | None) -> str | float | None:
    if isinstance(value, str) and not _DURATION.fullmatch(value):
        raise ValueError
    return value


class OllamaConfig(HttpSettings):
    """How a server of Ollama is called."""

    unknown_keys = "warn"
    ignored_keys = frozenset({"instance_id"})
    renamed_keys: ClassVar[Mapping[str, str]] = {"effort": "reasoning_effort"}

    host: Annotated[str | None, AfterValidator(_address), _ADDRESS, Env(SERVICE.address_from)] = (
        Field(default=None, repr=False)
    )
    """Address of the server, in any form that Ollama reads; `http://127.0.0.1:11434` if not set. It
    may contain a password, so it is treated as a secret."""
    base_url: Annotated[str | None, AfterValidator(_address), _ADDRESS] = Field(
        default=None, repr=False
    )
    """Another name of `host`."""
    api_key: Annotated[ApiKey | None, Env(SERVICE.key_from)] = Field(default=None, repr=False)
    """The API key, for Ollama Cloud or a server behind a proxy; a local server needs none."""
    api: Literal["native", "openai"] = "native"
    """The API that is asked: Ollama's own, or Chat Completions at `/v1`."""
    default_model: OptionalText = None
    """Model of requests that name none."""
    auto_pull: bool = False
    """Whether a model that the server does not have is downloaded before the first request."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Tokens of the longest answer; the server decides if not set."""
    num_ctx: int | None = Field(default=None, ge=1)
    """Tokens that the model reads, answer included; if not set, the server decides, often for a few
    thousand. More needs more memory."""
    keep_alive: Annotated[
        str | int | float | None,
        AfterValidator(_check_duration),
        Form("a number of seconds, or a duration like `5m`; negative for ever"),
    ] = None
    """How long the model stays in memory after an answer; the server decides if not set."""
    enable_thinking: bool | None = None
    """Whether models that can think do so; without it the effort of a request decides, or the model."""

    @property
    def address(self) -> str:
        """Where the server is."""
        return self.host or self.base_url or LOCAL

    @property
    def service(self) -> Service:
        """The service for errors and events, with the dialect of its answers."""
        return SERVICE if self.api == "native" else replace(SERVICE, dialect="chat")


def read_config(
    config: Mapping[str, Any] | None, environment: Mapping[str, str] | None = None
) -> OllamaConfig:
    """Check a config and fill its gaps from the environment.

    Args:
        config: The provider's section of the mount plan.
        environment: Where variables are looked up; the process environment by default.

    Raises:
        SettingError: A value cannot be used, or `host` and `base_url` differ.
    """
    variables = dict(os.environ if environment is None else environment)
    given = config
    if isinstance(config, Mapping):
        given = {key: value for key, value in config.items() if not _is_blank(key, value)}
        if "base_url" in given:
            variables.pop("OLLAMA_HOST", None)
    settings = read_settings(OllamaConfig, given, MODULE, variables)
    if settings.host and settings.base_url and settings.host != settings.base_url:
        message = f"{MODULE}: `host` and `base_url` differ (set one of them, or both to the same)"
        raise SettingError(message, module=MODULE, key="host")
    return settings


def without_effect(config: OllamaConfig) -> list[str]:
    """Return the settings that were made, but that Chat Completions has nothing for."""
    if config.api == "native":
        return []
    return [key for key in _OF_THE_OWN_API if getattr(config, key) is not None]


def _is_blank(key: str, value: Any) -> bool:
    is_filled = key in {"host", "base_url", "api_key"}
    return is_filled and isinstance(value, str) and not value.strip()


def is_missing(error: LLMError) -> bool:
    """Whether the server does not have the model."""
    return isinstance(error, llm_errors.NotFoundError) and bool(_MISSING.search(str(error)))
