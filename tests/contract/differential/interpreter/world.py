"""What one program has made and seen so far."""

from __future__ import annotations

import asyncio
import inspect
import logging
import warnings
from collections.abc import Callable
from typing import Any

from values import Plain, build

STEPS: dict[str, Callable[..., Any]] = {}
"""What a program can do, by name."""


def step(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let programs do this: `{"do": name, ...}` calls it with a world and the other entries."""
    STEPS[function.__name__.rstrip("_")] = function
    return function


class World(logging.Handler):
    """The objects of a program by name, the trace of what was called, and the log records."""

    current: World

    def __init__(self, folder: str) -> None:
        super().__init__(logging.WARNING)
        self.folder = folder
        self.things: dict[str, Any] = {}
        self.plain = Plain()
        self.plain.folders[folder] = "<folder>"
        self.trace: list[Any] = []
        self.records: list[str] = []
        self.undo: list[Callable[[], object]] = []
        self.over = False
        World.current = self

    def emit(self, record: logging.LogRecord) -> None:
        # The names of the reference's loggers are those of its parts, not of its contract.
        if not record.name.startswith(("amplifier_core", "_engine")):
            return
        security = record.getMessage().startswith("SECURITY:")
        self.records.append(f"{record.levelname}{': SECURITY' if security else ''}")

    def keep(self, name: str, thing: Any) -> Any:
        """Give a thing a name under which later steps find it."""
        self.things[name] = thing
        if thing is not None and not isinstance(thing, str | int | float | bool):
            self.plain.name(thing, name)
        return thing

    def saw(self, *entry: Any) -> None:
        """Add what was called with what, as it is now."""
        self.trace.append([self.plain(item) for item in entry])

    async def perform(self, step: dict[str, Any]) -> dict[str, Any]:
        """Do a step: what came of it, what was called meanwhile, and what was logged."""
        outer_trace, outer_records = self.trace, self.records
        self.trace, self.records = [], []
        arguments = {key: item for key, item in step.items() if key not in ("do", "note")}
        outcome: dict[str, Any] = {"do": step["do"]}
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                value = STEPS[step["do"]](self, **arguments)
                if inspect.isawaitable(value):
                    value = await value
                outcome["value"] = self.plain(value)
            except BaseException as raised:
                if self.over or isinstance(raised, GeneratorExit):
                    raise
                outcome["raises"] = self.error(raised)
        outcome["trace"] = self.trace
        outcome["logs"] = self.records
        relevant = [w for w in warned if not issubclass(w.category, ResourceWarning)]
        if relevant:
            outcome["warnings"] = [
                [w.category.__name__, self.plain.text(str(w.message))] for w in relevant
            ]
        self.trace, self.records = outer_trace, outer_records
        return {"do": "settle"} if step["do"] == "settle" else outcome

    def error(self, raised: BaseException) -> list[Any]:
        cause = raised.__cause__
        return [
            self.plain.error_type(raised),
            self.plain.error_text(raised),
            None if cause is None else self.plain.error_type(cause),
        ]

    def close(self) -> None:
        """Take back what was patched."""
        while self.undo:
            self.undo.pop()()


async def pause(times: int) -> None:
    """Let the loop turn a few times."""
    for _ in range(times):
        await asyncio.sleep(0)


@step
async def settle(world: World) -> None:
    """Let other threads end what they do; what they log meanwhile is not compared."""
    await asyncio.sleep(0.2)


@step
async def together(world: World, steps: list[dict[str, Any]]) -> list[Any]:
    """Do steps at once, each in a task of its own."""
    tasks = [asyncio.ensure_future(attempt(world, item)) for item in steps]
    return await asyncio.gather(*tasks)


@step
async def in_task(
    world: World, inner: dict[str, Any], cancel_after: int | None = None
) -> dict[str, Any] | str:
    """Do a step in a task, and cancel that after some turns of the loop."""
    task = asyncio.ensure_future(attempt(world, inner))
    if cancel_after is not None:
        await asyncio.sleep(cancel_after / 1000)
        task.cancel()
    return await task


async def attempt(world: World, inner: dict[str, Any]) -> dict[str, Any]:
    arguments = {key: item for key, item in inner.items() if key != "do"}
    try:
        value = STEPS[inner["do"]](world, **arguments)
        if inspect.isawaitable(value):
            value = await value
    except BaseException as raised:  # noqa: BLE001 -- an outcome like any other
        return {"raises": world.error(raised)}
    return {"value": world.plain(value)}


@step
def have(world: World, name: str, value: Any) -> None:
    """Give a value a name."""
    world.keep(name, build(value))


@step
def read(world: World, of: str, name: str) -> Any:
    """An attribute; with dots, an attribute of it."""
    thing = world.things[of]
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing


@step
def write(world: World, of: str, name: str, value: Any = None, thing: str | None = None) -> None:
    """Set an attribute to a value or to a thing with a name."""
    setattr(world.things[of], name, world.things[thing] if thing else build(value))


@step
def same(world: World, of: str, name: str, as_: list[str]) -> bool:
    """Whether an attribute is the very object that a path of another one gives."""
    other = world.things[as_[0]]
    for part in as_[1:]:
        other = other[part] if isinstance(other, dict) else getattr(other, part)
    return read(world, of, name) is other
