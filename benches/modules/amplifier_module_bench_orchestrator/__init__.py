"""An orchestrator that gives the prompt back, so that only the session around it costs."""

from __future__ import annotations

from typing import Any

__amplifier_module_type__ = "orchestrator"


class Echo:
    async def execute(self, prompt: str, **kwargs: Any) -> str:
        return prompt


async def mount(coordinator: Any, config: Any = None) -> None:
    await coordinator.mount("orchestrator", Echo())
