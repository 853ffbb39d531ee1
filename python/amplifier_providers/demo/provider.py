"""`provider-demo`: the demo model behind a real server, as a provider."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic import Field

from amplifier_providers.settings import Settings, read_settings

from ..anthropic import AnthropicProvider, read_config
from .server import DemoModel


class DemoSettings(Settings):
    """How the demo model answers."""

    pace: float = Field(default=0.004, ge=0, lt=1e9)
    """Seconds between the deltas of an answer; a whole one takes less than a second."""


class DemoProvider(AnthropicProvider):
    """Talks to the demo model as to Anthropic's API."""

    name = "demo"


async def mount(
    coordinator: Any, config: Mapping[str, Any] | None = None
) -> Callable[[], Awaitable[None]]:
    """Start the demo model on a loopback port, and mount it as `demo`.

    Returns:
        The callable that stops it.
    """
    settings = read_settings(DemoSettings, config, "provider-demo")
    demo = DemoModel(pace=settings.pace)
    demo.__enter__()
    provider: DemoProvider | None = None

    async def stop() -> None:
        try:
            if provider is not None:
                await provider.close()
        finally:
            demo.__exit__()

    try:
        found = read_config(demo.provider_config())
        assert found is not None
        provider = DemoProvider(found, getattr(coordinator, "hooks", None))
        await provider.mount(coordinator, DemoProvider.name)
    except BaseException:
        demo.__exit__()
        raise
    return stop
