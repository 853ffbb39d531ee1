"""The mistakes of the guide with tools, hooks and approvals."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from mistakes import add, mistake, model, told

from amplifier_agent import Agent, ToolContext, hook, tool
from amplifier_core import HookRegistry, HookResult, ModuleCoordinator, ToolResult

# tools


@mistake("tools", "a parameter without annotation")
def _() -> None:
    @tool
    def f(a) -> None:  # type: ignore[no-untyped-def]
        """F."""


@mistake("tools", "`*args`, `**kwargs`")
def _() -> None:
    @tool
    def f(*args: int) -> None:
        """F."""


@mistake("tools", "an object whose `execute` is not `async`")
def _() -> str:
    class Add:
        name = "add"
        description = "Add."
        input_schema: ClassVar[dict[str, Any]] = {"type": "object"}

        def execute(self, input: dict[str, Any]) -> ToolResult:
            return ToolResult(output=1)

    scripted = model({"tool": "add", "arguments": {}}, "ok")
    return told(Agent(scripted, tools=[Add()]), scripted)  # type: ignore[list-item]


@mistake(
    "tools", "an async generator, or a function that returns something else without a JSON form"
)
def _() -> str:
    @tool
    async def pages() -> AsyncIterator[str]:
        """List the pages."""
        yield "a.md"

    scripted = model({"tool": "pages", "arguments": {}}, "ok")
    return told(Agent(scripted, tools=[pages]), scripted)


@mistake("tools", "an `execute` whose result has to be awaited or iterated first")
def _() -> str:
    class Pages:
        name = "pages"
        description = "List the pages."
        input_schema: ClassVar[dict[str, Any]] = {"type": "object"}

        async def execute(self, input: dict[str, Any]) -> ToolResult:
            return ToolResult(output=(page for page in ("a.md", "b.md")))

    scripted = model({"tool": "pages", "arguments": {}}, "ok")
    return told(Agent(scripted, tools=[Pages()]), scripted)


@mistake("tools", "`sys.exit()` in a tool")
def _() -> str:
    @tool
    def leave() -> None:
        """Leave."""
        sys.exit()

    scripted = model({"tool": "leave", "arguments": {}}, "ok")
    return told(Agent(scripted, tools=[leave]), scripted)


@mistake("tools", "a call of a tool that does not exist")
def _() -> str:
    scripted = model({"tool": "nope", "arguments": {}}, "ok")
    return told(Agent(scripted, tools=[add]), scripted)


class Look:
    name, description = "look", "Look."

    async def execute(self, input: dict[str, Any]) -> str:
        return "seen"


def save(path: str, context: ToolContext) -> str:
    """Save a file."""
    return path


mistake("tools", "a class in the place of a tool")(
    lambda: Agent(model(), tools=[Look]).run_sync("go")  # type: ignore[list-item]
)
mistake("tools", "a `ToolContext` that is not the first parameter")(lambda: tool(save))


@mistake("tools", "two tools of one name")
def _() -> None:
    Agent(model(), tools=[add, tool(lambda: 1, name="add", description="Add.")]).run_sync("go")


@mistake("tools", "`coordinator.mount(…)` without `await`")
def _() -> None:
    ModuleCoordinator().mount("tools", add)


# hooks


def _waits_for(event: str, name: str) -> None:
    def observe(event: str, data: dict[str, Any]) -> None: ...

    observe.__name__ = observe.__qualname__ = name
    Agent(model(), hooks=[hook(event)(observe)]).run_sync("go")


mistake("hooks", '`@hook("tool_pre")`')(lambda: _waits_for("tool_pre", "h"))
mistake("events", "a hook for an event that nobody emits")(lambda: _waits_for("tool_pre", "audit"))
mistake("hooks", "`@hook` without an event")(lambda: hook())
mistake("hooks", '`@hook("*", "tool:pre")`')(lambda: hook("*", "tool:pre"))
mistake("hooks", '`register("tool:pre", HookResult())`')(
    lambda: HookRegistry().register("tool:pre", HookResult())  # type: ignore[arg-type]
)


def of_data(data: dict[str, Any]) -> None: ...


mistake("hooks", "a handler that takes the data alone")(
    lambda: HookRegistry().register("tool:pre", of_data)  # type: ignore[arg-type]
)


@mistake("hooks", '`HookResult(actoin="deny")`, or a dict with an unknown key')
def _() -> str:
    @hook("prompt:submit")
    def typo(event: str, data: dict[str, Any]) -> Any:
        return {"actoin": "deny"}

    return str(Agent(model(), hooks=[typo]).run_sync("go").reason)


@mistake("hooks", "`modify` without `data`")
def _() -> str:
    @hook("prompt:submit")
    def empty(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify")

    return str(Agent(model(), hooks=[empty]).run_sync("go").reason)


@mistake("hooks", "`inject_context` without text")
def _() -> str:
    @hook("prompt:submit")
    def silent(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="inject_context")

    return str(Agent(model(), hooks=[silent]).run_sync("go").reason)


@mistake("hooks", "a judge that answers with something else than a `HookResult` or None")
def _() -> str:
    @hook("prompt:submit")
    def weird(event: str, data: dict[str, Any]) -> Any:
        return "yes"

    return Agent(model(), hooks=[weird]).run_sync("go").status


# approvals


@tool(needs_approval=True)
def wipe(path: str) -> str:
    """Delete a folder."""
    return path


@mistake("approvals", "`approvals=` with something that cannot answer")
def _() -> None:
    Agent(model(), approvals=3).run_sync("go")  # type: ignore[arg-type]


@mistake("approvals", 'a function that answers `"yes"`')
def _() -> str:
    scripted = model({"tool": "wipe", "arguments": {"path": "a"}}, "ok")
    return told(Agent(scripted, tools=[wipe], approvals=lambda _: "yes"), scripted)


@mistake("approvals", "an answer that says nothing, such as None")
def _() -> str:
    scripted = model({"tool": "wipe", "arguments": {"path": "a"}}, "ok")
    return told(Agent(scripted, tools=[wipe], approvals=lambda _: None), scripted)  # type: ignore[arg-type,return-value]


@mistake("approvals", "a mode that there is not")
def _() -> None:
    hooks = [{"module": "hooks-approval", "config": {"mode": "careful"}}]
    Agent(model(), hooks=hooks).run_sync("go")


mistake("approvals", "`approval_timeout=0`")(lambda: Agent(model(), approval_timeout=0))


@mistake("approvals", "an answer to no question")
def _() -> None:
    async def main() -> None:
        async with Agent(model(), approvals="wait").session() as session:
            session.answer("unknown", True)

    asyncio.run(main())


mistake("approvals", "a tool that needs approval, and nobody to ask")(
    lambda: Agent(model(), tools=[wipe]).run_sync("go")
)
mistake("approvals", '`approvals="wait"` with `agent.run`, without a store')(
    lambda: Agent(model(), approvals="wait").run_sync("go")
)


# shell hooks


def make_shell_hooks(event: str, **hook: object) -> dict[str, Any]:
    hooks = {event: [{"hooks": [{"type": "command", **hook}]}]}
    return {"module": "hooks-shell", "config": {"hooks": hooks}}


@mistake("shell-hooks", '`"timeout": 5000`, in milliseconds')
def _() -> object:
    hooks = make_shell_hooks("Stop", command="true", timeout=5000)
    return Agent(model(), hooks=[hooks]).run_sync("go")


@mistake("shell-hooks", "`chmod +x` was forgotten")
def _() -> str:
    scripted = model({"tool": "add", "arguments": {"a": 1}}, "Done")
    with TemporaryDirectory() as folder:
        script = Path(folder, "check")
        script.touch()
        hooks = make_shell_hooks("PreToolUse", command=str(script))
        said = told(Agent(scripted, tools=[add], hooks=[hooks]), scripted)
    return said.replace(str(script), "./check")
