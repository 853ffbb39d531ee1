"""The settings of `provider-openai-chat`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field

from ..services import OPENAI_CHAT
from ..settings import Env, OptionalText, SettingError, read_settings
from ..value_problems import Form
from ..wire.options import can_be_sent
from ..wire.service import Service
from ..wire.settings import Address, ApiKey, HttpSettings, base_url
from .presets import OTHER, PRESETS, OutputForm, Preset, Replay, Thinking

MODULE = "provider-openai-chat"
_OTHER_KEY, _OTHER_ADDRESS = OPENAI_CHAT.key_variable, OPENAI_CHAT.address_variable
_FILLED = frozenset({"api_key", "base_url"})
_BODY_KEYS = frozenset({"messages", "model", "stream"})


def _check_preset(name: str) -> str:
    if name not in PRESETS:
        raise ValueError
    return name


def _address(url: str | None) -> str | None:
    return None if url is None else base_url(url)


def _check_headers(headers: dict[str, str]) -> dict[str, str]:
    if not can_be_sent(headers):
        raise ValueError
    return headers


def _extra_body(fields: dict[str, Any]) -> dict[str, Any]:
    if _BODY_KEYS & fields.keys():
        raise ValueError
    return fields


class ChatSettings(HttpSettings):
    """How Chat Completions are asked for, whatever the address and the key."""

    unknown_keys = "warn"
    ignored_keys = frozenset({"instance_id"})
    renamed_keys: ClassVar[Mapping[str, str]] = {"effort": "reasoning_effort"}

    default_model: OptionalText = None
    """Model of requests that name none."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Tokens of the longest answer; the server decides if not set."""
    parallel_tool_calls: bool | None = None
    """Whether the model may call several tools at once; the server decides if not set."""
    context_window: int | None = Field(default=None, ge=1)
    """Tokens that the model reads; what the list of models says, or a cautious number, if not set."""
    max_output_tokens: int | None = Field(default=None, ge=1)
    """Tokens that the model writes; what the list of models says, or a cautious number, if not set."""
    vision: bool | None = None
    """Whether the model sees images; otherwise they become text. By default it does, but for
    `deepseek` and where the list of models says that it does not."""
    thinking_request: Thinking | None = None
    """The field that asks for thinking, `thinking` with `reasoning_effort`; that of the preset, or
    `reasoning_effort`, if not set."""
    thinking_replay: Replay | None = None
    """The field in which the model gets its thinking back; that of the preset, or `none`, if not
    set."""
    structured_output: OutputForm | None = None
    """To what the server can hold an answer; that of the preset, or `json_schema`, if not set."""
    include_usage: bool | None = None
    """Whether a stream is asked for its usage; that of the preset, or true, if not set."""
    user_after_result: bool | None = None
    """Whether a message of the user may follow the result of a tool, which many chat templates
    refuse; that of the preset, or true, if not set."""
    short_call_ids: bool | None = None
    """Whether ids of calls have 9 letters and digits, as the templates of Mistral want; that of the
    preset, or false, if not set."""
    extra_headers: Annotated[
        dict[str, str],
        AfterValidator(_check_headers),
        Form("a mapping of header names to text of ASCII characters"),
    ] = Field(default_factory=dict[str, str], repr=False)
    """Further headers of every request, such as `HTTP-Referer`; secret, as one may hold a key."""
    extra_body: Annotated[
        dict[str, Any],
        AfterValidator(_extra_body),
        Form("a mapping without `messages`, `model` and `stream`"),
    ] = Field(default_factory=dict[str, Any])
    """Further fields of the body, such as `seed`; they replace those of the provider."""


class OpenAIChatConfig(ChatSettings):
    """How a server with Chat Completions is called."""

    preset: Annotated[
        str | None, AfterValidator(_check_preset), Form(", ".join(f"`{name}`" for name in PRESETS))
    ] = None
    """A known service, which has an address, a variable for its key and ways of its own."""
    api_key: Annotated[ApiKey | None, Env(_OTHER_KEY, read=None)] = Field(default=None, repr=False)
    """The API key; that of the preset's variable if not set. Local servers need none."""
    base_url: Annotated[
        str | None, AfterValidator(_address), Address, Env(_OTHER_ADDRESS, read=None)
    ] = Field(default=None, repr=False)
    """Address of the API, to which `/chat/completions` is added; a preset has one. It may contain a
    password, so it is treated as a secret."""


@dataclass(frozen=True)
class ChatConfig:
    """A service and its settings, complete."""

    preset: Preset
    settings: OpenAIChatConfig

    @cached_property
    def service(self) -> Service:
        """The service for errors and events."""
        preset = self.preset
        return Service(
            name=preset.name,
            title=preset.title,
            dialect="chat",
            key_from=preset.key_variable or _key_place(preset),
            address_from=_OTHER_ADDRESS if preset is OTHER else "base_url",
        )


def _key_place(preset: Preset) -> str:
    return _OTHER_KEY if preset is OTHER else "api_key"


def with_settings(preset: Preset, settings: ChatSettings) -> Preset:
    """Return what requests look like, after the settings that say so."""
    overrides = {
        "thinking": settings.thinking_request,
        "replay": settings.thinking_replay,
        "output": settings.structured_output,
        "include_usage": settings.include_usage,
        "user_after_result": settings.user_after_result,
        "short_ids": settings.short_call_ids,
        "vision": settings.vision,
    }
    changes: dict[str, Any] = {key: value for key, value in overrides.items() if value is not None}
    return replace(preset, **changes) if changes else preset


def read_config(
    config: Mapping[str, Any] | None,
    environment: Mapping[str, str] | None = None,
    preset: str | None = None,
) -> ChatConfig | str:
    """Check a config and fill its gaps from the preset and the environment.

    Args:
        config: The provider's section of the mount plan.
        environment: Where variables are looked up; the process environment by default.
        preset: The service, where the module is that of one.

    Returns:
        The service and the settings; in words what is missing, if there is no API key for a service
        that needs one, or no address.

    Raises:
        SettingError: A value cannot be used.
    """
    variables = os.environ if environment is None else environment
    module = MODULE if preset is None else f"provider-{preset}"
    if config and not isinstance(config, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
        read_settings(OpenAIChatConfig, config, module, {})
    values = dict(config or {})
    named: Any = values.get("preset") or preset
    if preset is not None and named != preset:
        message = f"{module}: `preset` is {named!r} (must be absent, or `{preset}`)"
        raise SettingError(message, module=module, key="preset")
    chosen = PRESETS.get(named, OTHER) if isinstance(named, str) else OTHER
    found = _fill_from_preset(values, chosen, variables)
    if chosen.key_variable and not found.get("api_key"):
        return f"no API key; set `{chosen.key_variable}` or the config key `api_key`"
    settings = read_settings(OpenAIChatConfig, found, module, variables)
    if not settings.base_url:
        return (
            f"no address; set `{_OTHER_ADDRESS}` or the config key `base_url`, or choose a `preset`"
        )
    return ChatConfig(chosen, settings)


def _fill_from_preset(
    values: dict[str, Any], preset: Preset, variables: Mapping[str, str]
) -> dict[str, Any]:
    """Return what a config says, its key and address from the preset and the environment."""
    # The key of one service must not go to another: a preset has its own variable.
    key = _OTHER_KEY if preset is OTHER else preset.key_variable
    address = _OTHER_ADDRESS if preset is OTHER else ""
    given = {name: value for name, value in values.items() if not _is_blank(value)}
    found = {name: value for name, value in values.items() if name in given or name not in _FILLED}
    if preset is not OTHER:
        found["preset"] = preset.name
    for name, variable, default in (
        ("api_key", key, ""),
        ("base_url", address, preset.base_url),
    ):
        text = variables.get(variable, "").strip() if variable else ""
        if name not in given and (text or default):
            found[name] = text or default
    return found


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())
