"""A sub-agent may do what its parent may do at that moment, and nothing more."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any, ClassVar

import pytest

from amplifier_agent import Agent, ScriptedProvider, ToolContext, hook, tool
from amplifier_core import AmplifierSession, HookResult
from amplifier_core import session as plain
from amplifier_core.models import ToolResult
from amplifier_modules.spawn import child_session


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=[AmplifierSession, plain.AmplifierSession], ids=["rust", "python"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(child_session, "AmplifierSession", request.param)
    return request.param


class Named:
    """A tool that answers with its word."""

    description = "Says a word."
    input_schema: ClassVar[dict[str, Any]] = {"type": "object", "properties": {}}

    def __init__(self, name: str, word: str) -> None:
        self.name = name
        self.word = word

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        return ToolResult(output=self.word)


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Have modules of others for a while: `modules["tool-x"] = mount`."""
    import sys

    class Installed(dict[str, Any]):
        def __setitem__(self, module_id: str, mount: Any) -> None:
            super().__setitem__(module_id, mount)
            module = ModuleType("amplifier_module_" + module_id.replace("-", "_"))
            module.mount = mount  # pyright: ignore[reportAttributeAccessIssue] -- a module made here
            monkeypatch.setitem(sys.modules, module.__name__, module)

    return Installed()


@asynccontextmanager
async def opened(
    kind: Any, model: Any, *, tools: list[Any] | None = None, hooks: list[Any] | None = None
) -> AsyncIterator[Any]:
    """Yield the coordinator of a session of these modules."""
    plan = {
        "session": {"orchestrator": "loop-streaming", "context": "context-simple"},
        "providers": [],
        "tools": tools or [],
        "hooks": hooks or [],
    }
    session = kind(plan)
    await session.coordinator.mount("providers", model, name=model.name)
    await session.initialize()
    try:
        yield session.coordinator
    finally:
        await session.cleanup()


def spawn_of(coordinator: Any) -> Any:
    return coordinator.get_capability("session.spawn")


def last(model: ScriptedProvider) -> str:
    """What the last request ends with."""
    return str(model.requests[-1].messages[-1].content)


def offered(model: ScriptedProvider) -> list[str]:
    return [each.name for each in model.requests[-1].tools or ()]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": name, "arguments": arguments}


def secret_module(*names: str) -> Any:
    async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
        for name in names:
            await coordinator.mount("tools", Named(name, "the secret"), name=name)

    return mount


# Holds: agent-53
@pytest.mark.parametrize("way", ["spawn", "tool-task"])
async def test_a_tool_that_was_unmounted_is_not_back_in_a_sub_agent(
    kind: Any, modules: Any, way: str
) -> None:
    modules["tool-secret"] = secret_module("secret", "look")
    model = ScriptedProvider([call("secret"), "no secret"])
    async with opened(kind, model, tools=["tool-secret", "tool-task"]) as coordinator:
        await coordinator.unmount("tools", "secret")
        if way == "spawn":
            assert (await spawn_of(coordinator)("Read it")).text == "no secret"
        else:
            done = await coordinator.get("tools", "task").execute({"prompt": "Read it"})
            assert done.output["answer"] == "no secret"
        assert offered(model) == ["look", "task"]
        assert "the secret" not in str(model.requests)


# Holds: agent-53, agent-54
@pytest.mark.parametrize("way", ["spawn", "tool-task"])
async def test_a_tool_that_was_wrapped_is_wrapped_in_a_sub_agent(
    kind: Any, modules: Any, way: str
) -> None:
    modules["tool-secret"] = secret_module("secret")
    model = ScriptedProvider([call("secret"), "done"])
    async with opened(kind, model, tools=["tool-secret", "tool-task"]) as coordinator:
        wrapper = Named("secret", "not for you")
        await coordinator.mount("tools", wrapper, name="secret")
        if way == "spawn":
            await spawn_of(coordinator)("Read it")
        else:
            await coordinator.get("tools", "task").execute({"prompt": "Read it"})
        assert last(model) == "not for you"


async def test_a_bound_tool_that_was_wrapped_or_unmounted_is_not_mounted_anew(kind: Any) -> None:
    seen: list[Any] = []
    model = ScriptedProvider(["done"], repeat=True)
    async with opened(kind, model, tools=["tool-task"]) as coordinator:
        coordinator.get_capability("session.tasks").prepare = (lambda child: seen.append(child),)
        own = coordinator.get("tools", "task")
        await spawn_of(coordinator)("go")
        assert offered(model) == ["task"]
        wrapper = Named("task", "wrapped")
        await coordinator.mount("tools", wrapper, name="task")
        await spawn_of(coordinator)("go")
        assert seen[-1].get("tools", "task") is wrapper
        await coordinator.unmount("tools", "task")
        await spawn_of(coordinator)("go")
        assert offered(model) == []
        assert seen[0].get("tools", "task") is not own


# Holds: agent-55
async def test_a_resumed_task_does_not_get_back_what_its_parent_has_lost(
    kind: Any, modules: Any
) -> None:
    modules["tool-secret"] = secret_module("secret", "look")
    model = ScriptedProvider(["done"], repeat=True)
    async with opened(kind, model, tools=["tool-secret"]) as coordinator:
        for names in (None, ["secret", "look"]):
            first = await spawn_of(coordinator)("go", tools=names)
            assert offered(model) == ["secret", "look"]
            tool = coordinator.get("tools", "secret")
            await coordinator.unmount("tools", "secret")
            await spawn_of(coordinator).resume(first.id, "go on")
            assert offered(model) == ["look"]
            await coordinator.unmount("tools", "look")
            await coordinator.mount("tools", tool, name="secret")
            await coordinator.mount("tools", tool, name="look")


async def test_a_grandchild_has_no_more_than_its_parent(kind: Any, modules: Any) -> None:
    modules["tool-secret"] = secret_module("secret", "look")

    @tool
    async def deeper(context: ToolContext) -> str:
        """Ask a sub-agent."""
        return (await spawn_of(context.session.coordinator)("deeper")).text

    model = ScriptedProvider([call("deeper"), "deepest", "child"])
    async with opened(kind, model, tools=["tool-secret"]) as coordinator:
        await coordinator.mount("tools", deeper, name="deeper")
        result = await spawn_of(coordinator)("go", tools=["look", deeper])
        assert result.text == "child"
    names = [[each.name for each in request.tools or ()] for request in model.requests]
    assert names == [["look", "deeper"]] * 3


# Holds: agent-54
async def test_the_plan_is_not_read_again(kind: Any, modules: Any) -> None:
    modules["tool-secret"] = secret_module("secret")
    model = ScriptedProvider(["done"])
    async with opened(kind, model, tools=[]) as coordinator:
        coordinator.config["tools"].append("tool-secret")
        await spawn_of(coordinator)("go")
        assert offered(model) == []


# Holds: agent-55
async def test_a_provider_that_was_unmounted_or_wrapped_is_not_back(kind: Any) -> None:
    plan = {
        "session": {"orchestrator": "loop-streaming", "context": "context-simple"},
        "providers": [
            {"module": "provider-scripted", "config": {"script": ["plan"], "repeat": True}}
        ],
    }
    session = kind(plan)
    await session.initialize()
    coordinator = session.coordinator
    spawn = spawn_of(coordinator)
    assert (await spawn("go")).text == "plan"
    wrapper = ScriptedProvider(["wrapper"], repeat=True)
    await coordinator.mount("providers", wrapper, name="scripted")
    assert (await spawn("go")).text == "wrapper"
    assert (await spawn("go", model="scripted")).text == "wrapper"
    with pytest.raises(ValueError, match="`scripted` is not the provider of its module any more"):
        await spawn("go", model="scripted:big")
    await coordinator.unmount("providers", "scripted")
    await coordinator.mount("providers", wrapper, name="other")
    assert (await spawn("go")).text == "wrapper"
    with pytest.raises(
        ValueError, match=r"no provider `scripted` is mounted any more \(there are: `other`\)"
    ):
        await spawn("go", model="scripted")
    await session.cleanup()


def denying(seen: list[tuple[str, str]]) -> Any:
    async def judge(event: str, data: dict[str, Any]) -> HookResult:
        seen.append((data["tool_name"], data["session_id"]))
        return HookResult(action="deny", reason="not here")

    return judge


# Holds: agent-56
@pytest.mark.parametrize("way", ["spawn", "tool-task"])
async def test_a_hook_that_a_program_registered_judges_sub_agents(kind: Any, way: str) -> None:
    seen: list[tuple[str, str]] = []
    look = Named("look", "seen")
    model = ScriptedProvider([call("look"), "done"])
    async with opened(kind, model, tools=["tool-task"]) as coordinator:
        await coordinator.mount("tools", look, name="look")
        coordinator.hooks.register("tool:pre", denying(seen), name="judge")
        if way == "spawn":
            await spawn_of(coordinator)("go")
        else:
            await coordinator.get("tools", "task").execute({"prompt": "go"})
        child = spawn_of(coordinator).tasks()[0].session_id
        assert seen == [("look", child)]
        assert "not here" in last(model)


# Holds: agent-56
async def test_each_handler_judges_once_and_in_its_place(kind: Any, modules: Any) -> None:
    order: list[str] = []
    mounts: list[str] = []

    def noting(word: str) -> Any:
        return lambda event, data: order.append(word)

    async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
        mounts.append(coordinator.session_id)
        coordinator.hooks.register("tool:pre", noting("module"), priority=50, name="module")
        coordinator.hooks.observe(noting("observer"), name="observer")

    modules["hooks-noting"] = mount
    look = Named("look", "seen")
    model = ScriptedProvider([call("look"), "done"])
    async with opened(kind, model, hooks=["hooks-noting", "hooks-guard"]) as coordinator:
        await coordinator.mount("tools", look, name="look")
        for priority in (100, -100):
            name = str(priority)
            coordinator.hooks.register("tool:pre", noting(name), priority=priority, name=name)
        await spawn_of(coordinator)("go")
        begun = order.index("-100")
        assert order[begun : begun + 4] == ["-100", "module", "100", "observer"]
        assert [word for word in order if word != "observer"] == ["-100", "module", "100"]
        assert mounts == [coordinator.session_id]


async def test_a_handler_that_was_unregistered_does_not_judge_a_sub_agent(
    kind: Any, modules: Any
) -> None:
    seen: list[tuple[str, str]] = []

    async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
        coordinator.hooks.register("tool:pre", denying(seen), name="judge")

    modules["hooks-judge"] = mount
    model = ScriptedProvider([call("look"), "done"])
    async with opened(kind, model, hooks=["hooks-judge"]) as coordinator:
        await coordinator.mount("tools", Named("look", "seen"), name="look")
        coordinator.hooks.unregister("judge")
        await spawn_of(coordinator)("go")
        assert (seen, last(model)) == ([], "seen")


async def test_what_observes_one_session_observes_its_sub_agents_by_itself(kind: Any) -> None:
    children: list[Any] = []
    model = ScriptedProvider([call("look"), "done"])
    async with opened(kind, model, hooks=["hooks-observe"]) as coordinator:
        coordinator.get_capability("session.tasks").prepare = (children.append,)
        await coordinator.mount("tools", Named("look", "seen"), name="look")
        await spawn_of(coordinator)("go")
        own = coordinator.get_capability("observe.session").snapshot()
        of_child = children[0].get_capability("observe.session").snapshot()
        assert (own["tools"], [each["tool"] for each in of_child["tools"]]) == ([], ["look"])


async def test_the_guard_of_a_parent_reads_the_schema_of_the_sub_agents_own_tool(
    kind: Any,
) -> None:
    @tool(name="look")
    def by_page(page: int) -> str:
        """Look at a page."""
        return f"page {page}"

    model = ScriptedProvider([call("look", page="x"), call("look", page=3), "done"])
    async with opened(kind, model, hooks=["hooks-guard"]) as coordinator:
        await coordinator.mount("tools", Named("look", "seen"), name="look")
        await spawn_of(coordinator)("go", tools=[by_page])
    results = [str(each.content) for each in model.requests[2].messages if each.role == "tool"]
    assert "`page` is 'x'" in results[0]
    assert results[1] == "page 3"


async def test_a_rate_of_the_guard_counts_the_calls_of_sub_agents(kind: Any) -> None:
    guard = {"module": "hooks-guard", "config": {"rates": {"tool": {"limit": 1, "period": 1000}}}}
    model = ScriptedProvider([call("look"), "done"] * 2)
    async with opened(kind, model, hooks=[guard]) as coordinator:
        await coordinator.mount("tools", Named("look", "seen"), name="look")
        await spawn_of(coordinator)("go")
        assert last(model) == "seen"
        await spawn_of(coordinator)("go")
        assert "rate limit" in last(model)


# Holds: agent-57
async def test_hooks_of_a_parent_judge_the_calls_of_an_agent_as_a_tool() -> None:
    seen: list[tuple[str, str]] = []
    look = Named("look", "seen")
    reader = ScriptedProvider([call("look"), "done"])
    model = ScriptedProvider([call("read", prompt="go"), "the end"])
    lead = Agent(model, tools=[Agent(reader, tools=[look]).as_tool("read", "Reads.")])
    async with lead.session() as session:

        def judge(event: str, data: dict[str, Any]) -> HookResult | None:
            seen.append((data["tool_name"], data["session_id"]))
            return HookResult(action="deny", reason="no") if data["tool_name"] == "look" else None

        session.session.coordinator.hooks.register("tool:pre", judge, name="judge")
        result = await session.run("go")
        parent = session.id
    assert result.text == "the end"
    assert "no" in last(reader)
    assert [name for name, _ in seen] == ["read", "look"]
    assert [of == parent for _, of in seen] == [True, False]


async def test_the_guard_of_a_parent_judges_an_agent_as_a_tool_by_its_own_tools() -> None:
    @tool
    def look(page: int) -> str:
        """Look at a page."""
        return f"page {page}"

    reader = ScriptedProvider([call("look", page="x"), call("look", page=3), "done"])
    model = ScriptedProvider([call("read", prompt="go"), "the end"])
    child = Agent(reader, tools=[look]).as_tool("read", "Reads.")
    result = await Agent(model, tools=[child], hooks=["hooks-guard"]).run("go")
    assert result.text == "the end"
    results = [str(each.content) for each in reader.requests[2].messages if each.role == "tool"]
    assert ("`page` is 'x'" in results[0], results[1]) == (True, "page 3")


async def test_observing_hooks_of_an_agent_see_the_sub_agents_that_have_its_modules() -> None:
    seen: list[str] = []

    @hook("*")
    def observe(event: str, data: dict[str, Any]) -> None:
        if event == "tool:pre":
            seen.append(data["tool_name"])

    reader = ScriptedProvider([call("look"), "done"])
    script = [call("read", prompt="go"), call("task", prompt="go"), call("look"), "done", "the end"]
    child = Agent(reader, tools=[Named("look", "seen")]).as_tool("read", "Reads.")
    tools: list[Any] = [child, Named("look", "seen"), "tool-task"]
    await Agent(ScriptedProvider(script), tools=tools, hooks=[observe]).run("go")
    assert seen == ["read", "task", "look"]


# Holds: agent-57
@pytest.mark.parametrize("own", [None, lambda _question: True])
async def test_an_agent_as_a_tool_asks_whom_its_parent_asks(own: Any) -> None:
    asked: list[str] = []

    @tool(needs_approval=True)
    def erase() -> str:
        """Erase all."""
        return "erased"

    def refuse(question: Any) -> bool:
        asked.append(question.tool_name)
        return False

    reader = ScriptedProvider([call("erase"), "done"])
    child = Agent(reader, tools=[erase], approvals=own).as_tool("clean", "Cleans.")
    model = ScriptedProvider([call("clean", prompt="go"), "the end"])
    await Agent(model, tools=[child], approvals=refuse).run("go")
    assert asked == ["erase"]
    assert "erased" not in last(reader)


async def test_a_stream_of_the_parent_has_no_events_of_its_sub_agents() -> None:
    reader = ScriptedProvider([call("look"), "of the reader"])
    script = [
        call("read", prompt="go"), call("task", prompt="go"), call("look"), "of the task", "the end",
    ]  # fmt: skip
    child = Agent(reader, tools=[Named("look", "seen")]).as_tool("read", "Reads.")
    tools: list[Any] = [child, Named("look", "seen"), "tool-task"]
    async with Agent(ScriptedProvider(script), tools=tools).stream("go") as stream:
        events = [each async for each in stream]
    started = [each.name for each in events if type(each).__name__ == "ToolStarted"]
    assert started == ["read", "task"]
    text = "".join(
        getattr(each, "text", "") for each in events if type(each).__name__ == "TextDelta"
    )
    assert text == "the end"


async def test_handlers_of_a_hook_module_are_called_once_for_each_session_below(
    kind: Any, modules: Any
) -> None:
    seen: list[str] = []

    async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
        def note(event: str, data: dict[str, Any]) -> None:
            seen.append(data["session_id"])

        coordinator.hooks.register("execution:start", note, name="note")

    modules["hooks-note"] = mount

    @tool
    async def deeper(context: ToolContext) -> str:
        """Ask a sub-agent."""
        return (await spawn_of(context.session.coordinator)("deeper")).text

    model = ScriptedProvider([call("deeper"), call("deeper"), "deepest", "child", "the end"])
    async with opened(kind, model, hooks=["hooks-note"]) as coordinator:
        await coordinator.mount("tools", deeper, name="deeper")
        coordinator.hooks.register("execution:start", lambda event, data: seen.append("program"))
        await coordinator.session.execute("go")
        assert seen[:2] == [coordinator.session_id, "program"]
        assert (len(seen), len({*seen})) == (4, 4)
