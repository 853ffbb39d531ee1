"""Mount plans whose modules are written down in the test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amplifier_core import ModuleLoader, RustCoordinator
from amplifier_core._session_init import initialize_session
from amplifier_core.coordinator import ModuleCoordinator

PLAN: dict[str, Any] = {"session": {"orchestrator": "loop", "context": "context"}}


class Provider:
    """A provider that mounts itself, as its name or under it."""

    def __init__(self, name: str) -> None:
        self.name = name


class Loader(ModuleLoader):
    """Gives mount functions that are written down in the test."""

    def __init__(self, **mounts: Any) -> None:
        super().__init__()
        self.mounts = {name.replace("_", "-"): mount for name, mount in mounts.items()}
        self.loaded: list[tuple[Any, ...]] = []

    async def load(
        self, module_id: str, config: Any = None, source_hint: Any = None, coordinator: Any = None
    ) -> Any:
        self.loaded.append((module_id, config, source_hint))
        assert isinstance(coordinator, ModuleCoordinator)
        mount = self.mounts.get(module_id)
        if isinstance(mount, BaseException):
            raise mount

        async def mount_module(coordinator: Any) -> Any:
            return None if mount is None else await mount(coordinator)

        ready = getattr(mount, "__on_session_ready__", None)
        if ready is not None:
            mount_module.__on_session_ready__ = ready  # pyright: ignore
        return mount_module


def mounting(provider: Provider) -> Any:
    async def mount(coordinator: Any) -> None:
        await coordinator.mount("providers", provider)

    return mount


def failing(error: BaseException) -> Any:
    async def mount(coordinator: Any) -> None:
        raise error

    return mount


def ready(module_id: str, function: Callable[..., Any]) -> Any:
    async def mount(coordinator: Any) -> None: ...

    mount.__on_session_ready__ = (module_id, function)  # pyright: ignore
    return mount


def record(coordinator: Any, *events: str) -> list[Any]:
    """Keep the payloads of some events, without their time."""
    seen: list[Any] = []

    def keep(event: str, data: dict[str, Any]) -> None:
        seen.append((event, {key: value for key, value in data.items() if key != "timestamp"}))

    for event in events:
        coordinator.hooks.register(event, keep, name="recorder")
    return seen


async def start(
    plan: dict[str, Any], loader: Any, coordinator: Any = None, parent: Any = None
) -> Any:
    coordinator = coordinator or RustCoordinator()
    coordinator.loader = loader
    await initialize_session(plan, coordinator, "an id", parent)
    return coordinator
