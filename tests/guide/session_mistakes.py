"""The mistakes of the guide of sub-agents, conversations, stored sessions, undo, budgets, costs, modules, trio and scripts."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, cast

import trio
from mistakes import add, mistake, model, told
from pydantic import BaseModel

from amplifier_agent import Agent, Budget, ScriptedProvider, ToolContext, tool
from amplifier_core import ModuleCoordinator
from amplifier_core.world import World, use
from amplifier_modules.changes.place import find_changes_folder
from amplifier_modules.changes.session_lock import SessionLock
from amplifier_modules.stores.sqlite import open_store
from amplifier_testing.servers import ChatServer

# stored sessions


mistake("sessions", '`store="sqlit"`')(lambda: Agent(model(), store="sqlit"))


@mistake("sessions", '`store="postgres"` without an address')
def _() -> None:
    Agent(model(), store="postgres").run_sync("Hi.")


def _stored(use: Callable[[Agent[Any], Path], Awaitable[object]]) -> None:
    """Store a session, and use its agent and the folder of its store."""

    async def main() -> None:
        with TemporaryDirectory() as folder:
            store = {"module": "store-sqlite", "config": {"folder": folder}}
            agent = Agent(model("Hello."), store=store)
            async with agent.session(session_id="chat") as session:
                await session.run("Hi.")
            await use(agent, Path(folder))

    asyncio.run(main())


@mistake("sessions", "`messages=` for a session that is stored")
def _() -> None:
    async def give_messages(agent: Agent[Any], folder: Path) -> None:
        messages = [{"role": "user", "content": "Hi."}]
        async with agent.session(session_id="chat", messages=messages):
            pass

    _stored(give_messages)


@mistake("sessions", "an answer to no question")
def _() -> None:
    _stored(lambda agent, _: agent.answer("chat", "unknown", True))


@mistake("sessions", "an answer after the `approval_timeout`")
def _() -> None:
    @tool(needs_approval=True, approval_timeout=1)
    def wipe() -> str:
        """Delete everything."""
        return "gone"

    async def answer(agent: Agent[Any], folder: Path) -> None:
        calling = model({"tool": "wipe", "arguments": {}})
        asking = agent.replace(model=calling, tools=[wipe], approvals="wait")
        asked = await asking.run("Clean up.")
        with use(_Later()):
            await asking.answer(asked.session_id, asked.questions[0].id, True)

    _stored(answer)


class _Later(World):
    """An hour from now."""

    def time(self) -> float:
        return super().time() + 3600


@mistake("sessions", "a file that was changed or cut off")
def _() -> None:
    async def change_file(agent: Agent[Any], folder: Path) -> None:
        with closing(sqlite3.connect(folder / "chat.sessions")) as connection:
            connection.execute("UPDATE event SET body = '{}' WHERE seq = 3")
            connection.commit()
        await open_store(agent.plan["session"]["store"]["config"]).read("chat")

    _stored(change_file)


# undo


def _undo(
    use: Callable[[Agent[Any]], Awaitable[object]], *script: Any, writes: bool = True
) -> None:
    """Use an agent that can write in a folder that is removed."""

    async def main(agent: Agent[Any]) -> None:
        await use(agent)

    with TemporaryDirectory() as folder:
        tools = ["tool-filesystem"] if writes else [add]
        asyncio.run(main(Agent(model(*script), tools=tools, directory=folder)))


@mistake("undo", "`undo` while a turn runs")
def _() -> None:
    async def undo_at_once(agent: Agent[Any]) -> None:
        async with agent.session() as session:
            async for _ in session.stream("Hi."):
                await session.undo()

    _undo(undo_at_once)


@mistake("undo", "`undo` while a turn runs in another process")
def _() -> None:
    call = {"tool": "write_file", "arguments": {"path": "a", "content": "a"}}

    async def undo_elsewhere(agent: Agent[Any]) -> None:
        async with agent.session(session_id="chat") as session:
            await session.run("Hi.")
            lock = SessionLock(find_changes_folder() / "chat")
            lock.take()
            try:
                await session.undo()
            finally:
                lock.release()

    _undo(undo_elsewhere, call, "Done.")


@mistake("undo", "`undo` of a session that is not open")
def _() -> None:
    _undo(lambda agent: agent.session(session_id="chat").undo())


@mistake("undo", "`undo` of a session without a tool that writes")
def _() -> None:
    async def undo(agent: Agent[Any]) -> None:
        async with agent.session(session_id="chat") as session:
            await session.undo()

    _undo(undo, writes=False)


@mistake("undo", "`rewind` of a session without a store")
def _() -> None:
    async def rewind(agent: Agent[Any]) -> None:
        async with agent.session(session_id="chat") as session:
            await session.rewind(1)

    _undo(rewind)


@mistake("undo", "`rewind` to what is not there")
def _() -> None:
    async def rewind(agent: Agent[Any]) -> None:
        async with agent.session(session_id="chat") as session:
            await session.rewind("last", conversation=False)

    _undo(rewind)


# sub-agents, conversations, budgets


mistake("sub-agents", "an agent among `tools`")(lambda: Agent(model(), tools=[Agent(model())]))  # type: ignore[list-item]


@mistake("sub-agents", "a sub-agent that fails")
def _() -> str:
    limited = Agent(
        model({"tool": "add", "arguments": {"a": 1}}, "ok"),
        tools=[add],
        budget=Budget(model_calls=1),
    )
    scripted = model({"tool": "ask", "arguments": {"prompt": "?"}}, "ok")
    by_tool = told(Agent(scripted, tools=[limited.as_tool("ask", "Ask.")]), scripted)

    tasks = {"module": "tool-task", "config": {"budget": {"model_calls": 1}}}
    call = {"tool": "add", "arguments": {"a": 1}}
    scripted = model({"tool": "task", "arguments": {"prompt": "?"}}, call, "closing", "ok")
    Agent(scripted, tools=[tasks, add]).run_sync("go")
    return f"{by_tool}\n{scripted.requests[-1].messages[-1].content}"


def _spawning(use: Callable[[Any], Awaitable[object]]) -> None:
    """Open a session with the tool `look` and one task that is over, and use its capability."""

    @tool
    def look() -> str:
        """Look around."""
        return "Nothing."

    async def main() -> None:
        async with Agent(model("done"), tools=[look]).session() as session:
            spawn = session.session.coordinator.get_capability("session.spawn")
            await spawn("Look.")
            await use(spawn)

    asyncio.run(main())


mistake("sub-agents", '`spawn(…, tools=["lok"])`')(
    lambda: _spawning(lambda spawn: spawn("Look.", tools=["lok"]))
)
mistake("sub-agents", "the id of a task that is not there")(
    lambda: _spawning(lambda spawn: spawn.result("task-9"))
)


def _after(change: Callable[[Any], Awaitable[None]]) -> None:
    """Ask for a sub-agent with a model of OpenAI once the program has changed its provider."""
    config = {"api_key": "key-of-nobody", "default_model": "gpt-5.5"}
    agent = Agent(plan={"providers": [{"module": "provider-openai", "config": config}]})

    async def main() -> None:
        async with agent.session() as session:
            coordinator: Any = session.session.coordinator
            await change(coordinator)
            await coordinator.get_capability("session.spawn")("go", model="openai:x")

    asyncio.run(main())


@mistake("sub-agents", '`spawn(…, model="openai:x")` after `openai` was unmounted')
def _() -> None:
    async def unmount(coordinator: Any) -> None:
        await coordinator.unmount("providers", "openai")
        await coordinator.mount("providers", model("done"), name="other")

    _after(unmount)


@mistake("sub-agents", '`spawn(…, model="openai:x")` after `openai` was wrapped')
def _() -> None:
    async def wrap(coordinator: Any) -> None:
        await coordinator.mount("providers", model("done"), name="openai")

    _after(wrap)


@mistake("sub-agents", "sub-agents that are nested too deeply")
def _() -> str:
    @tool
    async def deeper(context: ToolContext) -> str:
        """Go one deeper."""
        spawn = context.session.coordinator.get_capability("session.spawn")
        return (await spawn("Go on.")).text

    call = {"tool": "deeper", "arguments": {}}
    scripted = model(call, call, call, call, "4", "3", "2", "1")
    Agent(scripted, tools=[deeper]).run_sync("go")
    return str(scripted.requests[4].messages[-1].content)


mistake("conversations", "a message of a role that no model knows")(
    lambda: Agent(model()).session(messages=[{"role": "human", "content": "Hi"}])
)
mistake("conversations", "arguments of a call that are no JSON")(
    lambda: Agent(model()).session(
        messages=[
            {
                "role": "assistant",
                "tool_calls": [{"id": "c1", "function": {"name": "add", "arguments": "{"}}],
            }
        ]
    )
)
mistake("conversations", '`messages="hello"`')(
    lambda: Agent(model()).run_sync("go", messages="hello")
)  # type: ignore[arg-type]
mistake("conversations", "a session outside of `async with`")(
    lambda: asyncio.run(Agent(model()).session().run("go"))
)


@mistake("conversations", "a session in another event loop")
def _() -> None:
    async def main() -> None:
        async with Agent(model()).session() as session:
            await asyncio.to_thread(lambda: asyncio.run(session.run("go")))

    asyncio.run(main())


mistake("budgets", "`Budget(model_calls=0)`")(lambda: Budget(model_calls=0))
mistake("budgets", "`Budget(10)`")(lambda: Budget(10))  # type: ignore[call-arg]
mistake("budgets", "`cost=` with a provider whose prices are not known")(
    lambda: Agent(model(), budget=Budget(cost=1)).run_sync("go")
)


# cost


def _priced(prices: Mapping[str, Any]) -> Agent[None]:
    config = {"api_key": "key", "default_model": "mine", "prices": prices}
    plan = {"providers": [{"module": "provider-anthropic", "config": config}]}
    return Agent(plan=plan, budget=Budget(cost=1))


@mistake("cost", "a budget of `cost`, and a model without a price")
def _() -> None:
    _priced({}).run_sync("go")


@mistake("cost", "a price that is none")
def _() -> None:
    _priced({"mine": {"input": "cheap", "output": 1}}).run_sync("go")


# modules, trio, testing


def _with_dice(name: str, config: dict[str, Any]) -> None:
    class DiceSettings(BaseModel):
        sides: int = 6

    async def mount(coordinator: Any, config: Any = None) -> None: ...

    mount.__module__ = "amplifier_module_tool_dice"
    dice = ModuleType("amplifier_module_tool_dice")
    dice.__dict__.update(mount=mount, __amplifier_settings__=DiceSettings)
    sys.modules[dice.__name__] = dice
    try:
        Agent(model(), tools=[{"module": name, "config": config}]).run_sync("go")
    finally:
        del sys.modules[dice.__name__]


mistake("modules", "a misspelt id")(lambda: _with_dice("tool-serach", {}))
mistake("modules", "a key that the settings do not have")(
    lambda: _with_dice("tool-dice", {"side": 4})
)
mistake("modules", "a wrong slot")(lambda: asyncio.run(ModuleCoordinator().mount("tool", add)))


@mistake("trio", "`await asyncio.sleep(1)` in a tool under trio")
def _() -> str:
    @tool
    async def nap() -> None:
        """Sleep."""
        await asyncio.sleep(1)

    scripted = model({"tool": "nap", "arguments": {}}, "ok")
    trio.run(Agent(scripted, tools=[nap]).run, "go")
    return str(scripted.requests[1].messages[-1].content)


mistake("testing", "a script that is over")(lambda: Agent(ScriptedProvider([])).run_sync("go"))
mistake("testing", "a script of a server of the wrong type")(lambda: ChatServer(cast("Any", [3])))
mistake("testing", "an item that is none of the above")(
    lambda: Agent(ScriptedProvider([3])).run_sync("go")  # type: ignore[list-item]
)
