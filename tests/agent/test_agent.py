"""What an agent takes, what it refuses, and the plan that it makes."""

from __future__ import annotations

import asyncio
import json
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from pprint import pformat
from typing import Any

import pytest
from rich.pretty import pretty_repr

import amplifier_agent
from amplifier_agent import Agent, Budget, ScriptedProvider, hook, tool
from amplifier_core import AmplifierSession
from amplifier_modules.contexts.simple import SimpleContext
from amplifier_modules.loops.basic import BasicLoop


@tool
def add(a: int) -> int:
    return a


def own(module: str, **config: Any) -> dict[str, Any]:
    entry = {"module": module, "source": "amplifier_modules"}
    return {**entry, "config": config} if config else entry


def test_the_arguments_become_a_plan(tmp_path: Path) -> None:
    agent = Agent(
        "anthropic:claude-sonnet-4-5",
        tools=[add, "tool-search", {"module": "tool-x", "config": {"a": 1}}],
        hooks=["hooks-guard"],
        budget=Budget(model_calls=5, cost=2),
        directory=tmp_path,
    )
    budget = {"model_calls": 5, "tool_calls": None, "tokens": None, "cost": "2", "seconds": None}
    plan = agent.plan
    assert plan == {
        "session": {
            "strict": True,
            "orchestrator": own("loop-streaming", budget=budget),
            "context": own("context-simple"),
        },
        "providers": [
            {"module": "provider-anthropic", "config": {"default_model": "claude-sonnet-4-5"}}
        ],
        "tools": [
            {"module": "tool-search", "config": {"root": str(tmp_path)}},
            {"module": "tool-x", "config": {"a": 1}},
        ],
        "hooks": [{"module": "hooks-guard"}],
    }
    assert json.loads(json.dumps(plan)) == plan
    plan["tools"].clear()
    assert len(agent.plan["tools"]) == 2


def test_an_agent_of_a_plan_has_that_plan_and_arguments_win() -> None:
    plan = Agent("demo", tools=["tool-search"]).plan
    assert Agent(plan=plan).plan == plan
    changed = Agent("anthropic", plan=plan, loop="loop-basic").plan
    assert changed["providers"] == [{"module": "provider-anthropic"}]
    assert changed["session"]["orchestrator"] == {"module": "loop-basic"}
    assert changed["tools"] == plan["tools"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, TypeError, "an agent needs a `model`, such as"),
        ({"model": 5}, TypeError, "`model` is `int`, which is no provider"),
        ({"model": ScriptedProvider}, TypeError, "`model` is `ScriptedProvider`, which is no"),
        ({"model": "a:"}, ValueError, "`model` is `a:` (must be a provider, or"),
        ({"tools": "tool-search"}, TypeError, "`tools` is a `str` (must be a list)"),
        ({"tools": [5]}, TypeError, "`int` is no tool (must be a function, the id of a module"),
        ({"tools": [{"modul": "x"}]}, TypeError, "an entry of `tools` has no `module`; write"),
        ({"hooks": [print]}, TypeError, "`print` is no hook; decorate the function with"),
        ({"context": 5}, TypeError, "`context` is `int`, which has no method `add_message`"),
        ({"loop": 5}, TypeError, "`loop` is `int`, which has no method `execute`"),
        ({"budget": 5}, TypeError, "`budget` is a `int` (must be a `Budget`)"),
        ({"system": 5}, TypeError, "`system` is a `int` (must be text, or a function"),
        ({"directory": "/no/such"}, ValueError, "`directory` is `/no/such`, which is no folder"),
        ({"plan": 5}, TypeError, "`plan` is a `int` (must be a mapping)"),
        ({"output": threading.Lock}, TypeError, "which has no JSON schema"),
        ({"toolz": []}, TypeError, "toolz"),
    ],
)
def test_a_wrong_argument_is_refused_where_it_is_given(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    needs_model = arguments and "model" not in arguments
    with pytest.raises(error) as caught:
        Agent(**{**({"model": "demo"} if needs_model else {}), **arguments})
    assert message in str(caught.value)


@pytest.mark.parametrize("events", [(), (5,), (print,)])
def test_a_hook_needs_the_names_of_events(events: Any) -> None:
    with pytest.raises(TypeError, match="`hook` needs the names of events"):
        hook(*events)


def test_a_hook_for_every_event_names_no_other() -> None:
    with pytest.raises(ValueError, match="is every event; name it alone"):
        hook("*", "tool:pre")


async def test_objects_take_the_place_of_modules() -> None:
    context, loop = SimpleContext(), BasicLoop()
    agent = Agent(ScriptedProvider(["hi"]), context=context, loop=loop)
    async with agent.session() as session:
        coordinator = session.session.coordinator
        assert coordinator.get("context") is context
        assert coordinator.get("orchestrator") is loop
        assert (await session.run("go")).text == "hi"
        session.steer("x")
        assert len(loop.steering) == 1


async def test_an_agent_is_changed_by_a_copy() -> None:
    agent = Agent("demo", tools=[add], system="one")
    model = ScriptedProvider(["hi"])
    changed = agent.replace(model=model, system="two")
    await changed.run("go")
    assert model.requests[0].messages[0].content == "two"
    assert [each.name for each in model.requests[0].tools or []] == ["add"]
    assert repr(agent) == "Agent('demo')"


async def test_the_system_prompt_may_be_a_function_of_the_moment() -> None:
    count = iter(range(10))

    async def prompt() -> str:
        return f"call {next(count)}"

    model = ScriptedProvider(["a", "b"])
    async with Agent(model, system=prompt).session() as session:
        await session.run("x")
        await session.run("y")
    assert [request.messages[0].content for request in model.requests] == ["call 0", "call 1"]


async def test_the_plan_of_an_agent_runs_without_it() -> None:
    async with AmplifierSession(Agent(ScriptedProvider(["x"])).plan) as session:
        await session.coordinator.mount("providers", ScriptedProvider(["hi"]))
        await session.coordinator.mount("tools", add)
        assert await session.execute("go") == "hi"


def test_run_sync_needs_no_loop() -> None:
    assert Agent(ScriptedProvider(["hi"])).run_sync("go").text == "hi"


async def test_run_sync_within_a_loop_uses_a_thread_and_warns() -> None:
    agent = Agent(ScriptedProvider(["hi", "ho"]))
    with pytest.warns(RuntimeWarning, match="use `await run") as caught:
        assert agent.run_sync("go").text == "hi"
    assert caught[0].filename == __file__


async def test_run_sync_in_a_notebook_does_not_warn(monkeypatch: pytest.MonkeyPatch) -> None:
    class Notebook:
        @staticmethod
        def get_ipython() -> object:
            return object()

    monkeypatch.setitem(sys.modules, "IPython", Notebook)  # type: ignore[arg-type] # only asked
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Agent(ScriptedProvider(["hi"])).run_sync("go").text == "hi"


@pytest.mark.parametrize("is_within_a_loop", [False, True])
def test_an_interrupt_cancels_the_turn_and_is_raised(is_within_a_loop: bool) -> None:
    program = f"""
        import asyncio, warnings
        from amplifier_agent import Agent, ScriptedProvider, hook
        warnings.simplefilter("ignore")

        @hook("*")
        def log(event, data):
            print(event, flush=True)

        agent = Agent(ScriptedProvider(["one two"], delay=60), hooks=[log])

        async def within():
            agent.run_sync("go")

        try:
            asyncio.run(within()) if {is_within_a_loop} else agent.run_sync("go")
        except KeyboardInterrupt:
            print("interrupted")
    """
    line_of_program = [sys.executable, "-c", textwrap.dedent(program)]
    lines: list[str] = []
    with subprocess.Popen(line_of_program, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.strip())
            if line == "llm:pre\n":
                process.send_signal(signal.SIGINT)
    assert process.returncode == 0
    assert "cancel:completed" in lines
    assert lines[-2:] == ["session:end", "interrupted"]


def test_an_agent_is_shared_by_threads() -> None:
    agent = Agent(ScriptedProvider(["hi"], repeat=True))
    texts: list[str] = []
    threads = [
        threading.Thread(target=lambda: texts.append(agent.run_sync("go").text)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == ["hi"] * 8


def test_a_session_belongs_to_one_loop() -> None:
    async def use(session: Any) -> None:
        await session.run("go")

    async def main() -> None:
        async with Agent(ScriptedProvider(["a"])).session() as session:
            caught: list[BaseException] = []

            def elsewhere() -> None:
                try:
                    asyncio.run(use(session))
                except RuntimeError as error:
                    caught.append(error)

            await asyncio.to_thread(elsewhere)
            assert str(caught[0]).startswith("a `Session` belongs to one event loop")

    asyncio.run(main())


def test_every_public_name_can_be_imported() -> None:
    found = {name: getattr(amplifier_agent, name) for name in amplifier_agent.__all__}
    assert found["hook"] is hook
    assert set(dir(amplifier_agent)) >= set(amplifier_agent.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'gent'"):
        _ = amplifier_agent.gent  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]


def test_an_import_needs_neither_pydantic_nor_an_event_loop() -> None:
    program = (
        "import sys; from amplifier_agent import Agent, tool; "
        "print({'pydantic', 'anyio', 'asyncio'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, check=True, text=True
    )
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("shown", [str, repr, pformat, "{}".format, "%s".__mod__, pretty_repr])
def test_the_text_of_a_plan_shows_no_key(shown: Callable[[Any], str]) -> None:
    key, password = "sk-ant-" + "a1B2c3D4e5" * 3, "correct horse"
    config = {"api_key": key, "headers": [{"Authorization": f"Bearer {key}"}], "password": password}
    plan = {"providers": [{"module": "provider-anthropic", "config": config}]}
    whole = Agent(plan=plan).plan

    [provider] = whole["providers"]
    for part in (whole, whole["providers"], provider, provider["config"]):
        assert key not in shown(part)
        assert password not in shown(part)
    assert provider == {"module": "provider-anthropic", "config": config}
    assert isinstance(whole, dict)
    assert Agent(plan=whole).plan == whole == pickle.loads(pickle.dumps(whole))
