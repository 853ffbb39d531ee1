"""Sessions whose loop answers from a script."""

from __future__ import annotations

from typing import Any

PLAN: dict[str, Any] = {"session": {"orchestrator": "loop", "context": "context"}}


class Loop:
    """A loop that answers with texts, raises errors and calls functions of what is mounted."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    async def execute(self, prompt: str, **mounted: Any) -> Any:
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return await answer(mounted) if callable(answer) else answer


class Loader:
    """A loader that mounts given modules instead of importing some."""

    def __init__(self, loop: Any) -> None:
        self.modules = {"loop": ("orchestrator", loop), "context": ("context", object())}

    async def load(self, module_id: str, config: Any = None, **_: Any) -> Any:
        return lambda coordinator: coordinator.mount(*self.modules[module_id])

    def get_on_session_ready_queue(self) -> list[Any]:
        return []

    def clear_on_session_ready_queue(self) -> None: ...

    def cleanup(self) -> None: ...


def session_with(engine: Any, *answers: Any, is_resumed: bool = False) -> Any:
    loader = Loader(Loop(*answers))
    session = engine.AmplifierSession(dict(PLAN), loader, "s", is_resumed=is_resumed)
    session.coordinator.mount_points["providers"]["scripted"] = object()
    return session


def record(session: Any, event: str) -> list[tuple[str, dict[str, Any]]]:
    """Record an event with its data."""
    seen: list[tuple[str, dict[str, Any]]] = []
    session.coordinator.hooks.register(event, lambda *told: seen.append(told))
    return seen
