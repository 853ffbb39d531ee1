"""A handler that keeps what it gets, and results to compare."""

from __future__ import annotations

from typing import Any

from amplifier_core.models import HookResult


def recorder(seen: list[Any], answer: Any = None):
    async def handler(event: str, data: dict[str, Any]) -> Any:
        seen.append((event, data))
        return answer

    return handler


def without_time(result: HookResult) -> HookResult:
    data = {key: value for key, value in (result.data or {}).items() if key != "timestamp"}
    return result.model_copy(update={"data": data})
