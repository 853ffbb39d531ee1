"""A context without a memory."""

from __future__ import annotations

from typing import Any

__amplifier_module_type__ = "context"


class Forgetful:
    async def add_message(self, message: dict[str, Any]) -> None:
        pass

    async def get_messages(self) -> list[dict[str, Any]]:
        return []

    async def get_messages_for_request(self, **kwargs: Any) -> list[dict[str, Any]]:
        return []

    async def set_messages(self, messages: list[dict[str, Any]]) -> None:
        pass

    async def clear(self) -> None:
        pass


async def mount(coordinator: Any, config: Any = None) -> None:
    await coordinator.mount("context", Forgetful())
