"""What programs do with hooks and with the ids of requests."""

from __future__ import annotations

import inspect
from typing import Any

from handlers import MOOD, make_handler
from values import build
from world import World, step


@step
def registry(world: World, as_: str = "hooks") -> Any:
    from amplifier_core import HookRegistry

    return world.keep(as_, HookRegistry())


@step
def register(
    world: World,
    event: Any,
    handler: dict[str, Any],
    on: str = "hooks",
    as_: str | None = None,
    via: str = "register",
    **options: Any,
) -> None:
    """Register a handler; its handle is kept under `as_`."""
    given = make_handler(world, handler)
    handle = getattr(world.things[on], via)(event, given, **build(options))
    if as_ is not None:
        world.keep(as_, handle)


@step
def release(world: World, handle: str) -> Any:
    """Call an unregister handle."""
    return world.things[handle]()


@step
def unregister(world: World, name: Any, on: str = "hooks") -> Any:
    return world.things[on].unregister(name)


@step
def list_handlers(world: World, on: str = "hooks", **event: Any) -> Any:
    return world.things[on].list_handlers(**event)


@step
def set_default_fields(world: World, fields: dict[str, Any], on: str = "hooks") -> Any:
    return world.things[on].set_default_fields(**build(fields))


def change(data: Any, changes: Any) -> None:
    if changes is not None:
        data.update(build(changes))


@step
async def emit(
    world: World, event: Any, data: Any = None, on: str = "hooks", changed: Any = None
) -> Any:
    """Emit; also says whether the caller's data stayed as it was."""
    given = build(data)
    before = world.plain(given) if "circular" not in str(data) else None
    coroutine = world.things[on].emit(event, given)
    change(given, changed)
    result = await coroutine
    if before is not None and changed is None and world.plain(given) != before:
        world.saw("the caller's data changed", given)
    return result


@step
async def emit_and_see(
    world: World, event: str, data: dict[str, Any], see: str, on: str = "hooks"
) -> Any:
    """What cannot be seen of a result that is only compared."""
    given = build(data)
    result = await world.things[on].emit(event, given)
    views = {
        "keys": lambda: list(result.data),
        "identity": lambda: {key: result.data.get(key) is given[key] for key in given},
        "types": lambda: {key: type(item).__name__ for key, item in result.data.items()},
    }
    return views[see]()


@step
async def emit_and_collect(
    world: World, event: str, data: Any = None, on: str = "hooks", **timeout: Any
) -> Any:
    return await world.things[on].emit_and_collect(event, build(data), **build(timeout))


@step
def closed_unawaited(world: World, method: str, on: str = "hooks") -> Any:
    """A coroutine that nobody awaits."""
    coroutine = getattr(world.things[on], method)("tool:pre", {})
    is_coroutine = inspect.iscoroutine(coroutine)
    coroutine.close()
    return is_coroutine


@step
async def in_mood(world: World, mood: str, event: str, on: str = "hooks") -> str:
    """Emit with a context variable set; the value it has afterwards."""
    token = MOOD.set(mood)
    await world.things[on].emit(event, {})
    after = MOOD.get()
    MOOD.reset(token)
    return after


@step
def correlation(world: World, function: str, *arguments: Any, **options: Any) -> Any:
    """A function of `amplifier_core.correlation`."""
    from amplifier_core import correlation as module

    return getattr(module, function)(*options.pop("arguments", []), **options)


@step
def event_names(world: World) -> Any:
    from amplifier_core import events

    return events.ALL_EVENTS


@step
def has_attribute(world: World, module: str, path: str) -> bool:
    """Whether a dotted path exists in a module."""
    import importlib

    thing: Any = importlib.import_module(module)
    for part in path.split("."):
        if not hasattr(thing, part):
            return False
        thing = getattr(thing, part)
    return True
