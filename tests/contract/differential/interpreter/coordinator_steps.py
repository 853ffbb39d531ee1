"""What programs do with a coordinator, its approvals and its displays."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from handlers import Later
from values import build, error
from world import World, pause, step


class Recorder:
    """A module whose methods show in the trace."""

    def __init__(self, world: World, spec: dict[str, Any]) -> None:
        self.world = world
        self.spec = spec
        if "name" in spec:
            self.name = build(spec["name"])


class Context(Recorder):
    """A context that keeps messages."""

    def __init__(self, world: World, spec: dict[str, Any]) -> None:
        super().__init__(world, spec)
        self.messages: list[Any] = []
        if spec.get("sync"):
            self.add_message = self.add_now

    def add_now(self, message: Any) -> None:
        self.world.saw("add_message", message)
        if "raise" in self.spec:
            raise error(*self.spec["raise"])
        self.messages.append(message)

    async def add_message(self, message: Any) -> None:
        await pause(1)
        self.add_now(message)

    async def get_messages(self) -> list[Any]:
        return self.messages


class Approvals(Recorder):
    """Answers what the program says to each request."""

    def __init__(self, world: World, spec: dict[str, Any]) -> None:
        super().__init__(world, spec)
        if spec.get("sync"):
            self.request_approval = self.answer_now

    def answer_now(self, *arguments: Any) -> Any:
        self.world.saw("request_approval", *arguments)
        if "raise" in self.spec:
            raise error(*self.spec["raise"])
        return build(self.spec.get("says", "Allow"))

    async def request_approval(self, *arguments: Any) -> Any:
        if self.spec.get("hangs"):
            self.world.saw("request_approval", *arguments)
            await asyncio.Event().wait()
        await pause(1)
        return self.answer_now(*arguments)


class Display(Recorder):
    """Shows messages in the trace."""

    def __init__(self, world: World, spec: dict[str, Any]) -> None:
        super().__init__(world, spec)
        if spec.get("async"):
            self.show_message = self.show_later

    def show_message(self, *arguments: Any) -> None:
        self.world.saw("show_message", *arguments)
        if "raise" in self.spec:
            raise error(*self.spec["raise"])

    async def show_later(self, *arguments: Any) -> None:
        await pause(1)
        self.world.saw("show_message", *arguments)


class Bare:
    """Has nothing."""


def make(world: World, spec: dict[str, Any]) -> Any:
    """A module by its kind."""
    kinds = {
        "recorder": Recorder,
        "context": Context,
        "approvals": Approvals,
        "display": Display,
        "bare": lambda *_: Bare(),
        "none": lambda *_: None,
    }
    return kinds[spec.get("kind", "recorder")](world, spec)


@step
def thing(world: World, as_: str, **spec: Any) -> None:
    """Make a module, a context, an approval system or a display under a name."""
    world.keep(as_, make(world, spec))


@step
def coordinator(
    world: World,
    config: Any = None,
    without_session: bool = False,
    as_: str = "coordinator",
    approval: str | None = None,
    display: str | None = None,
    session_id: str = "s-1",
    parent_id: str | None = None,
) -> None:
    """A coordinator; its registry and token get the names `hooks` and `token`."""
    from amplifier_core import ModuleCoordinator

    systems = {
        key: world.things[name]
        for key, name in (("approval_system", approval), ("display_system", display))
        if name is not None
    }
    if without_session:
        made = ModuleCoordinator(**systems)
    else:
        session = SimpleNamespace(
            session_id=session_id, parent_id=parent_id, config=build(config or {})
        )
        world.keep("stand-in", session)
        world.keep("config", session.config)
        made = ModuleCoordinator(session=session, **systems)
    world.keep(as_, made)
    world.keep("hooks", made.hooks)
    world.keep("token", made.cancellation)


@step
async def mount(
    world: World, point: Any, thing: str, on: str = "coordinator", awaits: bool = True, **name: Any
) -> Any:
    coroutine = world.things[on].mount(point, world.things[thing], **build(name))
    if not awaits:
        acted = world.plain(world.things[on].mount_points)
        await coroutine
        return acted
    return await coroutine


@step
async def unmount(world: World, point: Any, on: str = "coordinator", **name: Any) -> Any:
    return await world.things[on].unmount(point, **build(name))


@step
def get(world: World, point: Any, on: str = "coordinator", **name: Any) -> Any:
    return world.things[on].get(point, **build(name))


@step
def put(world: World, point: str, thing: str, on: str = "coordinator", name: str = "") -> None:
    """Put a thing into the mount points by hand, into a slot's dict where a name is given."""
    points = world.things[on].mount_points
    if name:
        points[point][name] = world.things[thing]
    else:
        points[point] = world.things[thing]


@step
def replace_slot(world: World, point: str, things: dict[str, str], on: str = "coordinator") -> None:
    world.things[on].mount_points[point] = {k: world.things[v] for k, v in things.items()}


@step
def register_capability(world: World, name: Any, value: Any, on: str = "coordinator") -> Any:
    return world.things[on].register_capability(name, build(value))


@step
def get_capability(world: World, name: Any, on: str = "coordinator") -> Any:
    return world.things[on].get_capability(name)


def make_callback(world: World, spec: dict[str, Any]) -> Any:
    """A function without arguments: what it shows, does and returns."""

    def finish() -> Any:
        if "raise" in spec:
            raise error(*spec["raise"])
        return build(spec.get("returns"))

    def plain() -> Any:
        world.saw("callback", spec["name"])
        return finish()

    async def coroutine() -> Any:
        world.saw("callback", spec["name"])
        await pause(spec.get("suspends", 0))
        return finish()

    def later() -> Any:
        world.saw("callback", spec["name"])
        return Later(build(spec.get("returns")))

    kinds = {
        "async": coroutine,
        "sync": plain,
        "lambda": lambda: coroutine(),
        "later": later,
        "none": None,
        "number": 5,
        "dict": {},
    }
    return kinds[spec.get("kind", "async")]


@step
def register_cleanup(world: World, callback: dict[str, Any], on: str = "coordinator") -> Any:
    return world.things[on].register_cleanup(make_callback(world, callback))


@step
def append_cleanup(world: World, callback: dict[str, Any], on: str = "coordinator") -> None:
    """Append to the live list of clean-up functions."""
    world.things[on]._cleanup_fns.append(make_callback(world, callback))


@step
async def cleanup(world: World, on: str = "coordinator") -> Any:
    return await world.things[on].cleanup()


@step
def register_contributor(
    world: World, channel: Any, name: str, callback: dict[str, Any], on: str = "coordinator"
) -> Any:
    return world.things[on].register_contributor(channel, name, make_callback(world, callback))


@step
async def collect_contributions(world: World, channel: Any, on: str = "coordinator") -> Any:
    return await world.things[on].collect_contributions(channel)


@step
async def request_cancel(world: World, on: str = "coordinator", **immediate: Any) -> Any:
    return await world.things[on].request_cancel(**immediate)


@step
def reset_turn(world: World, on: str = "coordinator") -> Any:
    return world.things[on].reset_turn()


@step
def to_dict(world: World, on: str = "coordinator") -> Any:
    shown = world.things[on].to_dict()
    return {key: sorted(item) if isinstance(item, list) else item for key, item in shown.items()}


@step
async def process_hook_result(
    world: World,
    event: str = "tool:pre",
    hook_name: str | None = None,
    on: str = "coordinator",
    as_dict: bool = False,
    **fields: Any,
) -> Any:
    """Process a result made of fields; says whether the same object came back."""
    from amplifier_core import HookResult

    given: Any = build(fields) if as_dict else HookResult(**build(fields))
    names = {} if hook_name is None else {"hook_name": hook_name}
    result = await world.things[on].process_hook_result(given, event, **names)
    return {"same object": result is given, "result": result}
