"""The installed wheel without its extension, and with one that cannot be loaded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.timeout(1200), pytest.mark.xdist_group("wheel")]

CLASSES = ("AmplifierSession", "CancellationToken", "HookRegistry", "ModuleCoordinator")
TWINS = {
    **{name: name for name in CLASSES},
    "RustSession": "AmplifierSession",
    "RustCancellationToken": "CancellationToken",
    "RustHookRegistry": "HookRegistry",
    "RustCoordinator": "ModuleCoordinator",
}
"""Top-level names, and the class in plain Python that each is without the extension."""

NAMES = """
import json, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import amplifier_core
    missing = [name for name in amplifier_core.__all__ if not hasattr(amplifier_core, name)]
import amplifier_core.session, amplifier_core.cancellation
import amplifier_core.hooks, amplifier_core.coordinator
twins = {
    name: getattr(module, name)
    for module, name in (
        (amplifier_core.session, "AmplifierSession"),
        (amplifier_core.cancellation, "CancellationToken"),
        (amplifier_core.hooks, "HookRegistry"),
        (amplifier_core.coordinator, "ModuleCoordinator"),
    )
}
print(json.dumps({
    "installed": "site-packages" in amplifier_core.__file__,
    "available": amplifier_core.RUST_AVAILABLE,
    "warnings": [(one.category.__name__, str(one.message).partition(":")[0]) for one in caught],
    "missing": missing,
    "twins": {
        name: twin.__name__
        for name in NAMES
        for twin in twins.values()
        if getattr(amplifier_core, name) is twin
    },
}))
""".replace("NAMES", repr((*TWINS,)))

SESSION = """
import asyncio, json
import amplifier_core
from amplifier_core import AmplifierSession, ChatResponse, TextBlock, ToolCall, ToolResult
from amplifier_core.events import ALL_EVENTS


class Scripted:
    name = "scripted"

    def __init__(self):
        self.requests = []

    async def complete(self, request, **options):
        self.requests.append(request.model_dump(mode="json", exclude={"metadata"}))
        if len(self.requests) == 1:
            call = ToolCall(id="1", name="echo", arguments={"text": "hi"})
            return ChatResponse(content=[], tool_calls=[call], finish_reason="tool_use")
        return ChatResponse(content=[TextBlock(text="done")], finish_reason="end_turn")

    def parse_tool_calls(self, response):
        return response.tool_calls or []


class Echo:
    name, description, input_schema = "echo", "Echo a text.", {"type": "object"}

    async def execute(self, input):
        return ToolResult(output=input["text"])


async def main():
    plan = {"session": {"orchestrator": "loop-basic", "context": "context-simple"}}
    events, provider = [], Scripted()
    async with AmplifierSession(plan, session_id="s") as session:
        coordinator = session.coordinator
        await coordinator.mount("providers", provider)
        await coordinator.mount("tools", Echo())
        for event in ALL_EVENTS:
            coordinator.hooks.register(event, lambda event, data: events.append(event))
        answer = await session.execute("say hi")
        messages = await coordinator.get("context").get_messages()
    for message in messages:
        message.pop("metadata", None)
    return {"answer": answer, "events": events, "messages": messages}


print(json.dumps([amplifier_core.RUST_AVAILABLE, asyncio.run(main())], default=str))
"""

QUIET = ("-W", "ignore")


@pytest.fixture
def hidden(installed: Any) -> Iterator[Any]:
    """The environment without the file of the extension."""
    file: Path = installed.extension()
    aside = file.rename(file.with_name("aside"))
    yield installed
    aside.rename(file)


@pytest.fixture
def broken(hidden: Any) -> Iterator[Any]:
    """The environment with a file in its place that is no library."""
    file = hidden.python.parents[1].glob("lib/python*/site-packages/amplifier_core")
    (folder,) = file
    bad: Path = folder / "_engine.abi3.so"
    bad.write_bytes(b"not a library")
    yield hidden
    bad.unlink()


def test_without_the_extension_the_names_are_the_twins_with_one_warning(hidden, tmp_path):
    assert hidden.printed(NAMES, tmp_path) == {
        "installed": True,
        "available": False,
        "warnings": [["RuntimeWarning", "the extension `amplifier_core._engine` is not installed"]],
        "missing": [],
        "twins": TWINS,
    }


def test_a_session_comes_to_the_same_result_without_the_extension(installed, tmp_path):
    is_rust, with_it = installed.printed(SESSION, tmp_path)
    file = installed.extension()
    aside = file.rename(file.with_name("aside"))
    try:
        is_rust_without, without = installed.printed(SESSION, tmp_path, *QUIET)
    finally:
        aside.rename(file)

    assert (is_rust, is_rust_without) == (True, False)
    assert with_it["answer"] == "done"
    assert [message["role"] for message in with_it["messages"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert {"session:start", "tool:pre", "tool:post", "session:end"} <= {*with_it["events"]}
    assert without == with_it


@pytest.mark.parametrize("arguments", [("run", "hi"), ("run", "--json", "hi")])
def test_the_command_says_in_one_line_what_is_missing(hidden, tmp_path, arguments):
    done = hidden.call("amplifier-core", *arguments, folder=tmp_path)

    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: the extension `amplifier_core._engine` cannot be loaded")
    assert "Traceback" not in done.stdout + done.stderr


def test_the_extension_is_missed_where_it_is_asked_for(hidden, tmp_path):
    done = hidden.run("import amplifier_core", tmp_path, AMPLIFIER_ENGINE="rust")

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: No module named 'amplifier_core._engine'"
    )


@pytest.mark.parametrize(("engine", "twins"), [("python", TWINS), ("rust", {}), ("", {})])
def test_the_environment_forces_an_engine_without_a_warning(installed, tmp_path, engine, twins):
    assert installed.printed(NAMES, tmp_path, AMPLIFIER_ENGINE=engine) == {
        "installed": True,
        "available": not twins,
        "warnings": [],
        "missing": [],
        "twins": twins,
    }


@pytest.mark.parametrize("engine", ["", "rust"])
def test_an_extension_that_cannot_be_loaded_is_an_error(broken, tmp_path, engine):
    done = broken.run("import amplifier_core", tmp_path, AMPLIFIER_ENGINE=engine)

    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: ")
    assert "_engine.abi3.so" in last


def test_plain_python_runs_beside_a_broken_extension_if_it_is_asked_for(broken, tmp_path):
    found = broken.printed(NAMES, tmp_path, AMPLIFIER_ENGINE="python")

    assert (found["available"], found["warnings"], found["twins"]) == (False, [], TWINS)


def test_the_command_names_an_extension_that_cannot_be_loaded(broken, tmp_path):
    done = broken.call("amplifier-core", "run", "hi", folder=tmp_path)

    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert "_engine.abi3.so" in line
