"""Uses of the kernel with what hostile values were given to it before.

Arguments: none. The engine is the one that `AMPLIFIER_ENGINE` names.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import os
from collections.abc import Callable
from typing import Any

from owners import PLAN
from values import HOSTILE, HostileError, HostileExit
from walk import SECONDS, Findings, isolate

MOUNTS = {
    "loop-basic": "amplifier_modules.loops.basic",
    "loop-streaming": "amplifier_modules.loops.streaming",
}
ASKS = {"type": "tool_call", "id": "1", "name": "tool", "input": {}}


def modified(value: Any) -> Any:
    from amplifier_core.models import HookResult

    return HookResult.model_construct(action="modify", data=value)


def returned_later(value: Any) -> Any:
    async def handler(event: str, data: Any) -> Any:
        await asyncio.sleep(0)
        return value

    return handler


def emit_to(handler_of: Callable[[Any], Any]) -> Callable[[Any], Any]:
    async def emit(value: Any) -> None:
        from amplifier_core import HookRegistry

        hooks = HookRegistry()
        hooks.register("e", handler_of(value), name="hostile")
        hooks.register("e", lambda *_: None)
        with contextlib.suppress(HostileError, HostileExit):
            repr(await hooks.emit("e", {"a": value}))
        with contextlib.suppress(HostileError, HostileExit):
            repr(await hooks.emit("e", {"a": 1}))
        repr(await hooks.emit_and_collect("e", {}))
        hooks.list_handlers()

    return emit


async def collect(hooks: Any, value: Any) -> None:
    hooks.register("e", lambda *_: None)
    with contextlib.suppress(ValueError, TypeError):
        await hooks.emit("e", {"a": [value]})
    with contextlib.suppress(ValueError, TypeError):
        await hooks.emit("e", value)
    await hooks.emit_and_collect("e", {"a": (value,)}, timeout=1)


async def with_defaults(value: Any) -> None:
    from amplifier_core import HookRegistry

    hooks = HookRegistry()
    hooks.register("e", lambda *_: None)
    hooks.set_default_fields(value=value)
    await hooks.emit("e", {})


async def triggered(value: Any) -> None:
    from amplifier_core import CancellationToken

    token = CancellationToken()
    token.on_cancel(value)
    with contextlib.suppress(TypeError, AttributeError, HostileError):
        token.register_child(value)
    token.request_immediate()
    await token.trigger_callbacks()


async def cleaned(value: Any) -> None:
    from amplifier_core import ModuleCoordinator

    coordinator = ModuleCoordinator()
    coordinator.register_cleanup(value)
    await coordinator.cleanup()


async def contributed(value: Any) -> None:
    from amplifier_core import ModuleCoordinator

    coordinator = ModuleCoordinator()
    coordinator.register_contributor("c", "n", value)
    coordinator.register_contributor("c", "n", lambda: value)
    await coordinator.collect_contributions("c")


async def mounted(value: Any) -> None:
    from amplifier_core import AmplifierSession

    session = AmplifierSession(PLAN)
    coordinator = session.coordinator
    for slot in ("orchestrator", "context", "providers", "tools", "module-source-resolver"):
        await coordinator.mount(slot, value, name="n")
        coordinator.get(slot)
        coordinator.to_dict()
        with contextlib.suppress(TypeError):
            coordinator.mount_points[slot] = value
        repr(coordinator)
    coordinator.register_capability("c", value)
    coordinator.session_state = value
    with contextlib.suppress(RuntimeError):
        await session.execute("go")
    with contextlib.suppress(TypeError):
        coordinator.mount_points = value
    await session.cleanup()


async def approved(value: Any) -> None:
    from amplifier_core import ModuleCoordinator
    from amplifier_core.models import HookResult

    result = HookResult(action="ask_user", approval_prompt="?", approval_timeout=1)
    with contextlib.suppress(TypeError, AttributeError, HostileError):
        await ModuleCoordinator(approval_system=value).process_hook_result(result, "e", "n")

    class Answers:
        async def request_approval(self, *_: Any) -> Any:
            return value

    coordinator = ModuleCoordinator(approval_system=Answers())
    with contextlib.suppress(TypeError):
        await coordinator.process_hook_result(result, "e", "n")
    await coordinator.process_hook_result(value, "e", "n")


async def displayed(value: Any) -> None:
    from amplifier_core import ModuleCoordinator
    from amplifier_core.models import HookResult

    coordinator = ModuleCoordinator(display_system=value)
    await coordinator.process_hook_result(HookResult(user_message="m"), "e", "n")
    strange = HookResult.model_construct(
        action="inject_context", context_injection=value, user_message=value, context_injections=[]
    )
    await coordinator.process_hook_result(strange, "e", "n")


async def initialized(**section: Any) -> None:
    from amplifier_core import AmplifierSession

    session = AmplifierSession({"session": {**PLAN["session"], **section}})
    with contextlib.suppress(RuntimeError):
        await session.initialize()
    await session.cleanup()


class Answering:
    """Whatever is asked of it, it gives one value; a provider, a tool and a context at once."""

    name = "tool"
    description = "Gives."

    def __init__(self, value: Any) -> None:
        self.value = value
        self.input_schema: dict[str, Any] = {"type": "object"}

    async def execute(self, *_: Any, **__: Any) -> Any:
        return self.value

    complete = add_message = get_messages = get_messages_for_request = execute


class Asking(Answering):
    """A provider that wants a tool to be called with one value, then ends."""

    asked = False

    async def complete(self, *_: Any, **__: Any) -> Any:
        from amplifier_core import ChatResponse, ToolCall

        call = ToolCall.model_construct(id="1", name="tool", arguments=self.value)
        calls = [] if self.asked else [call]
        self.asked = True
        return ChatResponse.model_construct(content=[], tool_calls=calls)


def turn(loop: str, **mounted: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A turn of a loop with hostile modules."""

    async def run(value: Any) -> None:
        from importlib import import_module

        from amplifier_core import ModuleCoordinator
        from amplifier_modules.contexts import simple

        coordinator = ModuleCoordinator()
        await import_module(MOUNTS[loop]).mount(coordinator, {"max_iterations": 3})
        await simple.mount(coordinator, {})
        await coordinator.mount("providers", mounted.get("provider", Asking)({}), name="p")
        await coordinator.mount("tools", mounted.get("tool", Answering)(value), name="tool")
        if "context" in mounted:
            await coordinator.mount("context", mounted["context"](value))
        if "provider" in mounted:
            await coordinator.mount("providers", mounted["provider"](value), name="p")
        coordinator.hooks.register("tool:pre", lambda *_: None)
        points = coordinator.mount_points
        await points["orchestrator"].execute(
            prompt=value if "prompt" in mounted else "go",
            context=points["context"],
            providers=points["providers"],
            tools=points["tools"],
            hooks=coordinator.hooks,
            coordinator=coordinator,
        )

    return run


async def remembered(value: Any) -> None:
    """A message or its content in the context that comes with the package."""
    from amplifier_modules.contexts.simple import SimpleContext

    for message in (value, {"role": "user", "content": value}, {"role": value, "content": "x"}):
        context = SimpleContext()
        with contextlib.suppress(TypeError, ValueError, HostileError):
            await context.add_message(message)
        with contextlib.suppress(TypeError, ValueError, HostileError):
            await context.set_messages([message])
        await context.get_messages()
        await context.get_messages_for_request(10)


def uses() -> dict[str, Callable[[Any], Any]]:
    import amplifier_core as core

    loops = {
        f"{what} of {loop}": turn(loop, **mounted)
        for loop in MOUNTS
        for what, mounted in {
            "answer of the model": {"provider": Answering},
            "arguments of a call": {"provider": Asking},
            "output of a tool": {},
            "history": {"context": Answering},
            "prompt": {"prompt": Answering},
        }.items()
    }
    return {
        "handler": emit_to(lambda value: value),
        "what a handler returns": emit_to(lambda value: lambda *_: value),
        "what a handler awaits to": emit_to(returned_later),
        "data that a handler changes": emit_to(lambda value: lambda *_: modified(value)),
        "data": lambda value: collect(core.HookRegistry(), value),
        "defaults": with_defaults,
        "callback": triggered,
        "clean-up": cleaned,
        "contributor": contributed,
        "module": mounted,
        "approval system": approved,
        "display system": displayed,
        "plan": lambda value: core.AmplifierSession(value),
        "section": lambda value: core.AmplifierSession({"session": value}),
        "orchestrator": lambda value: initialized(orchestrator=value),
        "context": lambda value: initialized(context=value),
        "loader": lambda value: core.AmplifierSession(PLAN, loader=value).initialize(),
        "session of a coordinator": core.ModuleCoordinator,
        "raw": lambda value: initialized(raw=value),
        "message": remembered,
        **loops,
    }


def main() -> None:
    """Use each value in each way and print what went wrong."""
    isolate()
    findings = Findings()
    for use, act in uses().items():
        for name, make in HOSTILE.items():
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            print(name, "as", use, flush=True)
            findings.call(f"{name} as {use}", lambda act=act, make=make: act(make()))
    print(f"{findings.calls} calls of {len(uses())} uses", *findings.bad, sep="\n", flush=True)
    os._exit(0)  # another thread is in the middle of a coroutine


if __name__ == "__main__":
    main()
