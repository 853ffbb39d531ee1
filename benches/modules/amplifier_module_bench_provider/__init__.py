"""A provider that is mounted and never called."""

from __future__ import annotations

from typing import Any

__amplifier_module_type__ = "provider"


class Uncalled:
    name = "bench"


async def mount(coordinator: Any, config: Any = None) -> None:
    await coordinator.mount("providers", Uncalled(), name="bench-provider")
