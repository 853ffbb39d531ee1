"""Each mistake of the guide is made here, and what is said of it is what its page says."""

from __future__ import annotations

import asyncio
import gc
import logging
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, cast

import pytest
import trio
from pydantic import BaseModel

from amplifier_agent import Agent, BaseProvider, Budget, ScriptedProvider, hook, tool
from amplifier_core import (
    AmplifierSession,
    ChatResponse,
    HookRegistry,
    HookResult,
    ModuleCoordinator,
    ToolResult,
)

GUIDE = Path(__file__).parents[2] / "docs/guide"
NOT_HERE = {"mount-plans", "rust", "testing-a-provider"}
"""Made in `tests/kernel/test_plain_mistakes.py`, in tests of the crate, and in
`tests/modules/provider_kit`."""
TRIGGERS: dict[tuple[str, str], Callable[[], Any]] = {}


def mistake(page: str, row: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    def note(trigger: Callable[[], Any]) -> Callable[[], Any]:
        TRIGGERS[page, row] = trigger
        return trigger

    return note


def rows() -> dict[tuple[str, str], str]:
    """What each page says of each mistake."""
    found: dict[tuple[str, str], str] = {}
    for page in sorted(GUIDE.glob("*.md")):
        section = page.read_text().partition("## Mistakes, and what is said\n")[2]
        section = section.partition("\n## ")[0]
        for line in re.findall(r"^\| (?!mistake|-)(.*) \|$", section, re.MULTILINE):
            what, _, said = line.partition(" | ")
            if page.stem not in NOT_HERE:
                found[page.stem, what] = said
    return found


def quotes(said: str) -> list[str]:
    """The code of a cell: what is said, word for word; `…` stands for anything."""
    return [
        (long or short).strip()
        for long, short in re.findall(r"(?<!`)``(?!`)(.+?)(?<!`)``(?!`)|(?<!`)`([^`]+)`(?!`)", said)
    ]


def model(*script: Any) -> ScriptedProvider:
    return ScriptedProvider(script or ("Hi",))


def told(agent: Agent[Any], scripted: ScriptedProvider) -> str:
    """What the model is told of its first call."""
    agent.run_sync("go")
    return str(scripted.requests[1].messages[-1].content)


ROWS = rows()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}: {row[1]}")
def test_a_mistake_of_the_guide_is_told_as_its_page_says(
    row: tuple[str, str], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    caplog.set_level(logging.WARNING)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            said = str(TRIGGERS[row]())
        except Exception as error:  # noqa: BLE001 -- its kind is compared
            said = f"{type(error).__name__}: {error}"
        gc.collect()
    said = "\n".join(
        [said, *caplog.messages, *(f"{each.category.__name__}: {each.message}" for each in warned)]
    )

    expected = quotes(ROWS[row])
    assert expected
    for quote in expected:
        pattern = ".*".join(re.escape(part) for part in quote.split("…"))
        assert re.search(pattern, said, re.DOTALL), said


def test_every_mistake_of_the_guide_is_made() -> None:
    assert sorted(TRIGGERS) == sorted(ROWS)


def test_every_page_has_mistakes() -> None:
    pages = {page.stem for page in GUIDE.glob("*.md")}

    assert pages - {page for page, _ in ROWS} - NOT_HERE == set()


# recovery


@mistake("recovery", "`require_call` without a tool that ends the turn")
def _() -> None:
    loop = {"module": "loop-basic", "config": {"require_call": True}}
    Agent(model(), loop=loop).run_sync("go")


# agents


@mistake("agents", "a module, a setting or a name that does not exist")
def _() -> None:
    files = {"module": "tool-filesystem", "config": {"rooot": "."}}
    Agent(model(), tools=[files]).run_sync("go")


@mistake("agents", '`tools="weather"`')
def _() -> None:
    Agent(model(), tools="weather")


@mistake("agents", "`run` inside its own turn")
def _() -> str:
    async def main() -> str:
        @tool
        async def again() -> str:
            """Ask again."""
            return (await session.run("once more")).text

        scripted = model({"tool": "again", "arguments": {}}, "ok")
        async with Agent(scripted, tools=[again]).session() as session:
            await session.run("go")
        return str(scripted.requests[1].messages[-1].content)

    # Of a tool, to which it happens, the model is told.
    return asyncio.run(main())


def _run_sync_within_a_loop() -> None:
    async def main() -> None:
        Agent(model()).run_sync("go")

    asyncio.run(main())


mistake("agents", "`agent.run_sync` where an event loop runs")(_run_sync_within_a_loop)
mistake("web", "`agent.run_sync` in a handler")(_run_sync_within_a_loop)


@mistake("agents", "an answer that does not fit `output`")
def _() -> str:
    class City(BaseModel):
        name: str

    result = Agent(model("no", "neither"), output=City).run_sync("go")
    return f"{result.status} output: {result.reason}"


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


@tool
def add(a: int) -> int:
    """Add."""
    return a


@mistake("tools", "a call of a tool that does not exist")
def _() -> str:
    scripted = model({"tool": "nope", "arguments": {}}, "ok")
    return told(Agent(scripted, tools=[add]), scripted)


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


@mistake("hooks", "a judge that answers with something else than a `HookResult` or None")
def _() -> str:
    @hook("prompt:submit")
    def weird(event: str, data: dict[str, Any]) -> Any:
        return "yes"

    return Agent(model(), hooks=[weird]).run_sync("go").status


# providers


class Small(BaseProvider):
    """Yields one piece, and then a word."""

    name = "small"

    def __init__(self, piece: Any) -> None:
        self._pieces = [piece]
        self.requests: list[Any] = []

    async def chunks(self, request: Any, **options: Any) -> Any:
        self.requests.append(request)
        yield self._pieces.pop() if self._pieces else "Done."


class Neither(BaseProvider):
    name = "neither"


class Mine(BaseProvider):
    name = "mine"

    def complete(self, request: Any, **options: Any) -> Any:
        return ChatResponse(content=[])


mistake("providers", "no key")(lambda: Agent("anthropic:claude-sonnet-4-5").run_sync("go"))
mistake("providers", "a misspelt provider")(lambda: Agent("anthropc:claude").run_sync("go"))
mistake("providers", "neither `chunks` nor `complete`")(lambda: Agent(Neither()).run_sync("go"))
mistake("models-without-tools", "a provider that yields something else")(
    lambda: Agent(Small(3), loop="loop-tagged").run_sync("go")
)


@mistake("models-without-tools", "a `tool_prompt` without `{tools}`")
def _() -> None:
    loop = {"module": "loop-tagged", "config": {"tool_prompt": "Use tools."}}
    Agent(Small("Hi"), loop=loop).run_sync("go")


@mistake("models-without-tools", "an answer that ends within a call")
def _() -> str:
    small = Small('<tool>{"tool_name": "add", "arguments": {"a": 1')
    Agent(small, tools=[add], loop="loop-tagged").run_sync("go")
    return str(small.requests[1].messages[-1].content)


mistake("providers", "a `complete` that is not `async`")(lambda: Agent(Mine()).run_sync("go"))


# contexts


def _with_context(config: dict[str, Any], prompt: str = "go") -> Any:
    context = {"module": "context-simple", "config": config}
    return Agent(model(), context=context).run_sync(prompt).status


mistake("contexts", "an unknown key in `config`")(lambda: _with_context({"max_token": 3}))
mistake("contexts", "a prompt that does not fit even when everything else is left out")(
    lambda: _with_context({"max_tokens": 50}, "word " * 500)
)


@mistake("contexts", "a history with a call that has no result")
def _() -> None:
    call = {"type": "tool_call", "id": "1", "name": "add", "input": {}}
    messages = [{"role": "user", "content": "go"}, {"role": "assistant", "content": [call]}]
    Agent(model()).run_sync("on", messages=messages)


@mistake("contexts", "a method of your own context that is not `async`")
def _() -> None:
    class Memory:
        def add_message(self, message: Any) -> None: ...

        async def get_messages(self) -> list[Any]:
            return []

        get_messages_for_request = set_messages = clear = get_messages

    Agent(model(), context=Memory()).run_sync("go")  # type: ignore[arg-type]


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
    return told(Agent(scripted, tools=[wipe], approvals=lambda _: "yes"), scripted)  # type: ignore[arg-type,return-value]


@mistake("approvals", "an answer to no question")
def _() -> None:
    async def main() -> None:
        async with Agent(model(), approvals="wait").session() as session:
            session.answer("unknown", True)

    asyncio.run(main())


mistake("approvals", "a tool that needs approval, and nobody to ask")(
    lambda: Agent(model(), tools=[wipe]).run_sync("go")
)
mistake("approvals", '`approvals="wait"` with `agent.run`')(
    lambda: Agent(model(), approvals="wait").run_sync("go")
)


# cancellation and steering


@mistake("cancellation", "a cancelled session of the kernel that is not reset")
def _() -> str:
    async def main() -> str:
        provider = {"module": "provider-scripted", "config": {"script": ["Hi"]}}
        main = {"orchestrator": "loop-streaming", "context": "context-simple"}
        async with AmplifierSession({"session": main, "providers": [provider]}) as session:
            session.coordinator.cancellation.request_immediate()
            return await session.execute("go")

    return asyncio.run(main())


@mistake("cancellation", "a tool that swallows its cancellation")
def _() -> str:
    async def main() -> str:
        over = asyncio.Event()

        @tool
        async def stubborn() -> str:
            """Go on, whatever happens."""
            session.cancel()
            while not over.is_set():
                try:
                    await over.wait()
                except asyncio.CancelledError:
                    continue
            return "done"

        scripted = model({"tool": "stubborn", "arguments": {}}, "ok")
        async with Agent(scripted, tools=[stubborn]).session() as session:
            status = (await session.run("go")).status
            over.set()
            return status

    return asyncio.run(main())


def _steer(text: str, times: int = 1, loop: Any = None) -> None:
    async def main() -> None:
        async with Agent(model(), loop=loop).session() as session:
            for _ in range(times):
                session.steer(text)

    asyncio.run(main())


class Loop:
    async def execute(self, prompt: str, **mounted: Any) -> str:
        return "Hi"


@mistake("steering", "a loop that cannot be paused")
def _() -> Any:
    async def main() -> None:
        async with Agent(ScriptedProvider([]), loop=Loop()).session() as session:
            session.pause()

    asyncio.run(main())


mistake("steering", "a text that is no `str`")(lambda: _steer(cast("Any", 1)))
mistake("steering", "an empty text")(lambda: _steer(" "))
mistake("steering", "a loop that takes no messages")(lambda: _steer("Stop", loop=Loop()))
mistake("steering", "more than 100 that wait")(lambda: _steer("Stop", times=101))


# goals and roles


def _fast(role: str, provider: str, **options: Any) -> str:
    config = {"models": {role: provider}}
    loop = {"module": "loop-streaming", "config": config}
    return Agent(model(), loop=loop, **options).run_sync("go").text


@hook("provider:request")
def _misspelt(event: str, data: dict[str, Any]) -> HookResult:
    return HookResult(action="modify", data={**data, "role": "fsat"})


@mistake("goals", "something else in the session state")
def _() -> None:
    async def main() -> None:
        async with Agent(model()).session() as session:
            session.session.coordinator.session_state["goal"] = 3
            await session.run("go")

    asyncio.run(main())


mistake("goals", "an empty goal")(lambda: Agent(model()).run_sync("go", goal=" "))
mistake("goals", "a loop that is not ours")(
    lambda: Agent(model(), loop=Loop()).run_sync("go", goal="done")
)
mistake("roles", "a provider that is not mounted")(lambda: _fast("fast", "grok"))
mistake("roles", "a hook that chooses a role without a model")(
    lambda: _fast("fast", "scripted", hooks=[_misspelt])
)
mistake("roles", "a role that looks misspelt")(lambda: _fast("fats", "scripted"))


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
    return told(Agent(scripted, tools=[limited.as_tool("ask", "Ask.")]), scripted)


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
mistake("testing", "an item that is none of the above")(
    lambda: Agent(ScriptedProvider([3])).run_sync("go")  # type: ignore[list-item]
)
