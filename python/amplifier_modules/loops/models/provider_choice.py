"""The choice of the provider for a turn."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Protocol, cast

from amplifier_core.llm_errors import ConfigurationError

logger = logging.getLogger(__name__)

DEFAULT_PRIORITY = 100


class TagSettings(Protocol):
    """The settings of a loop that say how models write their calls."""

    @property
    def tool_tags(self) -> tuple[str, ...]:
        """The tags of calls; empty for native ones."""
        ...

    @property
    def model_fields_set(self) -> set[str]:
        """The settings that a config names."""
        ...


def choose_provider(providers: Mapping[str, Any], preferred: str | None) -> tuple[str, Any]:
    """Return mount name and provider: the preferred one, else that with the lowest priority.

    Equal priorities keep the order of mounting.

    Raises:
        ConfigurationError: No provider is mounted.
    """
    if not providers:
        message = "no provider is mounted (check its configuration and credentials)"
        raise ConfigurationError(message)
    if preferred is not None:
        if (name := mounted_as(preferred, providers)) is not None:
            return name, providers[name]
        names = ", ".join(f"`{name}`" for name in providers)
        logger.warning("default provider `%s` is not mounted (mounted: %s)", preferred, names)
    if len(providers) == 1:
        return next(iter(providers.items()))
    return min(providers.items(), key=lambda item: _priority(item[1]))


def mounted_as(name: str, providers: Mapping[str, Any]) -> str | None:
    """Return what a provider is mounted as that is named so, or by its id; None if it is not."""
    names = (name, name.removeprefix("provider-"))
    return next((each for each in names if each in providers), None)


def model_name(provider: Any) -> str | None:
    """Return the default model of the provider, if it has one."""
    for source in (provider, getattr(provider, "config", None)):
        if source is not None:
            for attribute in ("default_model", "model"):
                value = getattr(source, attribute, None)
                if isinstance(value, str):
                    return value
    return None


def tool_tags(provider: Any, settings: TagSettings) -> tuple[str, ...]:
    """Return the tags in which the model writes its calls; empty for native calls.

    Those that the config of the loop names count first, then those of the provider, then the
    default of the loop.
    """
    if settings.tool_tags and "tool_tags" in settings.model_fields_set:
        return settings.tool_tags
    tags: Any = getattr(provider, "tool_tags", None)
    if not tags or not isinstance(tags, (list, tuple)):
        return settings.tool_tags
    named = cast("list[Any]", tags)
    return tuple(tag for tag in named if isinstance(tag, str)) or settings.tool_tags


def _priority(provider: Any) -> float:
    config = getattr(provider, "config", None)
    settings = cast("dict[str, Any]", config) if isinstance(config, dict) else {}
    for value in (getattr(provider, "priority", None), settings.get("priority")):
        if isinstance(value, int | float) and not isinstance(value, bool):
            return value
    return DEFAULT_PRIORITY
