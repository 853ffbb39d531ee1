"""Modules that do what their config says; the packages that programs load are made of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from coordinator_steps import Context, make_callback
from handlers import make_handler
from values import build, error
from world import World, pause


class Loop:
    """An orchestrator that does one script for each execute."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.turns = list(config.get("turns", []))

    async def execute(
        self, prompt: Any, context: Any, providers: Any, tools: Any, hooks: Any, **more: Any
    ) -> Any:
        world = World.current
        coordinator = more["coordinator"]
        world.saw(
            "execute",
            prompt,
            type(context).__name__,
            list(providers or {}),
            list(tools or {}),
            hooks is coordinator.hooks,
            sorted(more),
        )
        script = self.turns.pop(0) if self.turns else []
        said: Any = f"echo: {prompt}"
        for action in script:
            (way, value), *_ = action.items()
            if way == "emit":
                result = await hooks.emit(value[0], build(value[1]))
                world.saw("answered", result.action, result.reason)
            elif way == "process":
                from amplifier_core import HookResult

                result = await coordinator.process_hook_result(
                    HookResult(**value), "tool:pre", "scripted"
                )
                world.saw("processed", result.action, result.reason)
            elif way == "tool":
                world.saw("tool result", await tools[value[0]].execute(value[1]))
            elif way == "provider":
                world.saw("completion", await providers[value].complete(None))
            elif way == "remember":
                await context.add_message(value)
            elif way == "cancel":
                getattr(coordinator.cancellation, value)()
            elif way == "pause":
                await pause(value)
            elif way == "hang":
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    world.saw("loop cancelled")
                    raise
            elif way == "raise":
                raise error(*value)
            elif way == "return":
                said = build(value)
            else:
                raise LookupError(f"a loop knows no `{way}`")
        return said


class Tool:
    """Answers with its input."""

    description = "Answers with its input"

    def __init__(self, name: str) -> None:
        self.name = name
        self.input_schema: dict[str, Any] = {"type": "object"}

    async def execute(self, input: dict[str, Any]) -> Any:
        from amplifier_core import ToolResult

        return ToolResult(success=True, output=input)


class Provider:
    """Answers with one text."""

    def __init__(self, name: str) -> None:
        self.name = name

    def get_info(self) -> Any:
        from amplifier_core import ProviderInfo

        return ProviderInfo(id=self.name, display_name=self.name)

    async def list_models(self) -> list[Any]:
        return []

    async def complete(self, request: Any, **kwargs: Any) -> Any:
        return f"a completion of {self.name}"

    def parse_tool_calls(self, response: Any) -> list[Any]:
        return []


class Memory(Context):
    """The whole protocol of a context."""

    async def get_messages_for_request(
        self, token_budget: int | None = None, provider: Any = None
    ) -> list[Any]:
        return self.messages

    async def set_messages(self, messages: list[Any]) -> None:
        self.messages = messages

    async def clear(self) -> None:
        self.messages = []


async def begin(kind: str, config: dict[str, Any]) -> bool:
    """Show the mount, fail where the config says so; whether there is something to mount."""
    world = World.current
    shown = {key: item for key, item in config.items() if key not in ("turns", "handlers")}
    world.saw("mount", kind, shown)
    how = config.get("mount", {})
    await pause(how.get("suspends", 0))
    if "raise" in how:
        raise error(*how["raise"])
    return not how.get("nothing")


def result(config: dict[str, Any]) -> Any:
    how = config.get("mount", {})
    if "cleanup" in how:
        return make_callback(World.current, how["cleanup"])
    return build(how.get("returns"))


async def mount_loop(coordinator: Any, config: dict[str, Any]) -> Any:
    if await begin("loop", config):
        await coordinator.mount("orchestrator", Loop(config))
    return result(config)


async def mount_context(coordinator: Any, config: dict[str, Any]) -> Any:
    if await begin("context", config):
        await coordinator.mount("context", Memory(World.current, config))
    return result(config)


async def mount_provider(coordinator: Any, config: dict[str, Any]) -> Any:
    if await begin("provider", config):
        name = config.get("name", "scripted")
        await coordinator.mount("providers", Provider(name), name=name)
    if "fails_late" in config:
        raise error(*config["fails_late"])
    return result(config)


async def mount_tool(coordinator: Any, config: dict[str, Any]) -> Any:
    if await begin("tool", config):
        for name in config.get("names", ["echo"]):
            await coordinator.mount("tools", Tool(name))
    return result(config)


async def mount_hooks(coordinator: Any, config: dict[str, Any]) -> Any:
    if await begin("hooks", config):
        for event, handler in config.get("handlers", []):
            coordinator.hooks.register(
                event, make_handler(World.current, handler), name=handler["name"]
            )
    return result(config)


scripted_mounts = {
    "loop": mount_loop,
    "context": mount_context,
    "provider": mount_provider,
    "tool": mount_tool,
    "hooks": mount_hooks,
}


def ready(name: str, *raises: str) -> Callable[..., Any]:
    """An `on_session_ready` that shows itself and may fail."""

    async def on_session_ready(coordinator: Any) -> None:
        World.current.saw("ready", name, sorted(coordinator.get("tools")))
        if raises:
            raise error(*raises)

    return on_session_ready
