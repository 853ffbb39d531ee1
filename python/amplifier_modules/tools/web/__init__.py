"""`tool-web`: the text of web pages, and the search of the model's own service."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from amplifier_providers.settings import read_settings

from .fetch_tool import WebFetch
from .search import NAME, OwnSearch
from .settings import WebSettings

__amplifier_module_type__ = "tool"
__amplifier_settings__ = WebSettings

__all__ = ["WebFetch", "WebSettings", "mount"]


async def mount(
    coordinator: Any, config: Mapping[str, Any] | None = None
) -> Callable[[], None] | None:
    """Mount the tool as `web_fetch`, and have the providers offer their search if it is wanted.

    Args:
        coordinator: The coordinator of the session.
        config: See `WebSettings`.

    Returns:
        A callable that unregisters its handler, if it has one.

    Raises:
        SettingError: A key is unknown, or a value cannot be used.
    """
    settings = read_settings(WebSettings, config, NAME)
    tool = WebFetch(settings)
    await coordinator.mount("tools", tool, name=tool.name)
    return OwnSearch(coordinator).register() if settings.web_search else None
