"""What programs do with sessions."""

from __future__ import annotations

import asyncio
from typing import Any

from values import build
from world import World, step


@step
def session(
    world: World,
    config: Any = None,
    as_: str = "session",
    flavour: str = "top",
    loader: str | None = None,
    approval: str | None = None,
    display: str | None = None,
    prefix: str = "",
    **options: Any,
) -> Any:
    """A session, of the top-level class or the one in Python; its parts get names too."""
    import amplifier_core

    cls = amplifier_core.AmplifierSession
    if flavour == "python":
        from amplifier_core.session import AmplifierSession as cls
    systems = {
        key: world.things[name]
        for key, name in (
            ("approval_system", approval),
            ("display_system", display),
            ("loader", loader),
        )
        if name is not None
    }
    given = build(config)
    made = cls(given, **systems, **build(options))
    world.keep(f"{prefix}config", made.config)
    world.keep(as_, made)
    world.keep(f"{prefix}coordinator", made.coordinator)
    world.keep(f"{prefix}hooks", made.coordinator.hooks)
    world.keep(f"{prefix}token", made.coordinator.cancellation)
    return {"config is the one given": made.config is given, "id": made.session_id}


@step
async def initialize(world: World, on: str = "session") -> Any:
    return await world.things[on].initialize()


@step
async def initialize_twice_at_once(world: World, on: str = "session") -> Any:
    return await asyncio.gather(world.things[on].initialize(), world.things[on].initialize())


@step
async def execute(world: World, prompt: Any, on: str = "session") -> Any:
    return await world.things[on].execute(build(prompt))


@step
async def enter(world: World, on: str = "session") -> Any:
    return await world.things[on].__aenter__()


@step
async def leave(world: World, on: str = "session") -> Any:
    return bool(await world.things[on].__aexit__(None, None, None))


@step
def config_set(world: World, path: list[str], value: Any, on: str = "session") -> None:
    """Change the config of a session in place."""
    place = world.things[on].config
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = build(value)


@step
def set_loader(world: World, loader: str, on: str = "coordinator") -> None:
    world.things[on].loader = world.things[loader]


@step
def merge_configs(world: World, base: Any, overlay: Any, on: str = "session") -> Any:
    return world.things[on]._merge_configs(build(base), build(overlay))


@step
def session_init(world: World, function: str, raised: list[str]) -> Any:
    """A function of `_session_init` on an exception."""
    from values import error

    from amplifier_core import _session_init

    return getattr(_session_init, function)(error(*raised))


@step
def load_failure_capability(
    world: World, name: str, raises: list[str] | None = None, on: str = "coordinator"
) -> None:
    """Register what is called before a provider loads, or when it failed."""
    from values import error

    async def capability(*arguments: Any) -> None:
        world.saw("capability", name, *arguments[1:])
        if raises:
            raise error(*raises)

    world.things[on].register_capability(name, capability)
