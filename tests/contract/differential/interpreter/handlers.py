"""Handlers that do and answer what a program says."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable, Generator
from contextvars import ContextVar
from typing import Any

from values import build, error
from world import STEPS, World, pause

MOOD: ContextVar[str] = ContextVar("mood", default="unset")
"""Set by a program's emitter, read by its handlers."""


class Later:
    """Can be awaited, and is no coroutine."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __await__(self) -> Generator[Any, None, Any]:
        yield from asyncio.sleep(0).__await__()
        return self.value


def answer(given: dict[str, Any] | None, data: Any) -> Any:
    """What a handler returns: `given` has one key, the way."""
    from amplifier_core import HookResult

    if given is None:
        return None
    way, value = next(iter(given.items()))
    if way == "result":
        return HookResult(**build(value))
    if way == "return":
        return build(value)
    if way == "raise":
        raise error(*value)
    if way == "add":
        return HookResult(action="modify", data={**data, **build(value)})
    if way == "echo":
        return HookResult(action="continue", data={"seen": data})
    if way == "later":
        return Later(answer(value, data))
    if way == "unvalidated":
        return HookResult.model_construct(**build(value))
    raise LookupError(f"no way to answer is called `{way}`")


class Script:
    """One handler: what it shows in the trace, does and answers."""

    def __init__(self, world: World, spec: dict[str, Any]) -> None:
        self.world = world
        self.spec = spec

    def start(self, event: str, data: Any) -> None:
        show = self.spec.get("shows", "data")
        seen: dict[str, Any] = {
            "data": data,
            "keys": list(data) if isinstance(data, dict) else None,
            "types": {key: type(item).__name__ for key, item in data.items()}
            if isinstance(data, dict)
            else type(data).__name__,
            "nothing": None,
            "place": None,
        }
        if show == "place":
            try:
                loop: bool = asyncio.get_running_loop() is not None
            except RuntimeError:
                loop = False
            main = threading.current_thread() is threading.main_thread()
            seen["place"] = {"main thread": main, "loop runs": loop, "mood": MOOD.get()}
        self.world.saw("handler", self.spec["name"], event, seen[show])
        if self.spec.get("mutates"):
            data.clear()
            data["mutated"] = True
        for step in self.spec.get("does", []):
            arguments = {key: item for key, item in step.items() if key != "do"}
            STEPS[step["do"]](self.world, **arguments)
        if "sets_mood" in self.spec:
            MOOD.set(self.spec["sets_mood"])

    def plain(self, event: str, data: Any) -> Any:
        self.start(event, data)
        return answer(self.spec.get("answer"), data)

    async def coroutine(self, event: str, data: Any) -> Any:
        self.start(event, data)
        for step in self.spec.get("awaits", []):
            outcome = await self.world.perform(step)
            self.world.trace.append(["in", self.spec["name"], outcome])
        try:
            await pause(self.spec.get("suspends", 0))
            if self.spec.get("hangs"):
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.world.saw("cancelled", self.spec["name"])
            raise
        return answer(self.spec.get("answer"), data)


class CallableObject:
    """An object with an async `__call__`."""

    def __init__(self, script: Script) -> None:
        self.script = script

    async def __call__(self, event: str, data: Any) -> Any:
        return await self.script.coroutine(event, data)


def make_handler(world: World, spec: dict[str, Any]) -> Any:
    script = Script(world, spec)
    kinds: dict[str, Callable[[], Any]] = {
        "async": lambda: script.coroutine,
        "sync": lambda: script.plain,
        "object": lambda: CallableObject(script),
        "partial": lambda: functools.partial(script.coroutine),
        "lambda": lambda: lambda event, data: script.coroutine(event, data),
        "none": lambda: None,
        "no arguments": lambda: lambda: None,
        "number": lambda: 5,
    }
    return kinds[spec.get("kind", "async")]()
