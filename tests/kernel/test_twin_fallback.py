"""Which engine the package takes, and that a program runs the same without the extension."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from amplifier_core import _engine

HIDE = """
import sys

class Hidden:
    '''Hides the extension, as on a platform that has no wheel.'''

    def find_spec(self, name, path=None, target=None):
        if name == "amplifier_core._engine":
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)

sys.meta_path.insert(0, Hidden())
"""

BREAK = """
import sys

class Broken:
    '''Finds an extension that cannot be loaded.'''

    def find_spec(self, name, path=None, target=None):
        if name == "amplifier_core._engine":
            raise ImportError("undefined symbol: PyNothing")

sys.meta_path.insert(0, Broken())
"""

NAMES = """
import json, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import amplifier_core
    missing = [name for name in amplifier_core.__all__ if not hasattr(amplifier_core, name)]
from amplifier_core import cancellation, capabilities, coordinator, events, hooks, session
classes = {
    "AmplifierSession": session.AmplifierSession,
    "CancellationToken": cancellation.CancellationToken,
    "HookRegistry": hooks.HookRegistry,
    "ModuleCoordinator": coordinator.ModuleCoordinator,
    "RustCancellationToken": cancellation.CancellationToken,
    "RustCoordinator": coordinator.ModuleCoordinator,
    "RustHookRegistry": hooks.HookRegistry,
    "RustSession": session.AmplifierSession,
}
print(json.dumps({
    "available": amplifier_core.RUST_AVAILABLE,
    "version": amplifier_core.__version__,
    "warnings": [(str(one.message), one.category.__name__, one.filename) for one in caught],
    "missing": missing,
    "in python": [name for name, twin in classes.items() if getattr(amplifier_core, name) is twin],
    "events": events.ALL_EVENTS,
    "capabilities": capabilities.ALL_WELL_KNOWN_CAPABILITIES,
}))
"""

SESSION = """
import asyncio, json, warnings
warnings.simplefilter("ignore", RuntimeWarning)
import amplifier_core
from amplifier_core import AmplifierSession, ChatResponse, TextBlock, ToolCall, ToolResult
from amplifier_core.events import ALL_EVENTS

class Scripted:
    '''A provider that asks for a tool, then answers.'''

    name = "scripted"

    def __init__(self):
        self.requests = []

    def get_info(self):
        return amplifier_core.ProviderInfo(id="scripted", display_name="Scripted")

    async def complete(self, request, **options):
        self.requests.append(request.model_dump(mode="json"))
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
    seen, provider = [], Scripted()
    async with AmplifierSession(plan, session_id="s") as session:
        coordinator = session.coordinator
        await coordinator.mount("providers", provider)
        await coordinator.mount("tools", Echo())
        for event in ALL_EVENTS:
            coordinator.hooks.register(event, lambda event, data: seen.append(event))
        answer = await session.execute("say hi")
        messages = await coordinator.get("context").get_messages()
        for message in messages:
            message.pop("metadata", None)
    return {"answer": answer, "events": seen, "messages": messages, "asked": len(provider.requests)}

result = asyncio.run(main())
print(json.dumps({"rust": amplifier_core.RUST_AVAILABLE, "result": result}, default=str))
"""


def run(program: str, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != "AMPLIFIER_ENGINE"}
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=False,
        env=kept | variables,
        text=True,
    )


def printed(program: str, **variables: str) -> Any:
    done = run(program, **variables)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_without_the_extension_the_same_names_are_plain_python_with_one_warning():
    found = printed(HIDE + NAMES)
    ((text, category, file),) = found.pop("warnings")
    assert text.startswith("the extension `amplifier_core._engine` is not installed")
    assert (category, file) == ("RuntimeWarning", "<string>")
    assert found == {
        "available": False,
        "version": _engine.__version__,
        "missing": [],
        "in python": [
            "AmplifierSession",
            "CancellationToken",
            "HookRegistry",
            "ModuleCoordinator",
            "RustCancellationToken",
            "RustCoordinator",
            "RustHookRegistry",
            "RustSession",
        ],
        "events": _engine.ALL_EVENTS,
        "capabilities": _engine.ALL_WELL_KNOWN_CAPABILITIES,
    }


@pytest.mark.parametrize("engine", ["python", "rust", ""])
def test_the_environment_forces_an_engine_without_a_warning(engine):
    found = printed(NAMES, AMPLIFIER_ENGINE=engine)
    assert found["warnings"] == []
    assert found["missing"] == []
    assert found["available"] is (engine != "python")
    assert len(found["in python"]) == (8 if engine == "python" else 0)


@pytest.mark.parametrize(
    ("prelude", "engine", "line"),
    [
        (HIDE, "rust", "ModuleNotFoundError: No module named 'amplifier_core._engine'"),
        (BREAK, "", "ImportError: undefined symbol: PyNothing"),
        (BREAK, "rust", "ImportError: undefined symbol: PyNothing"),
        ("", "rost", "ImportError: `AMPLIFIER_ENGINE` must be `python` or `rust`, found `rost`"),
    ],
)
def test_an_engine_that_cannot_be_had_is_an_error_of_the_import(prelude, engine, line):
    done = run(prelude + "import amplifier_core", AMPLIFIER_ENGINE=engine)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == line


def test_plain_python_runs_where_the_extension_is_broken_and_python_is_asked_for():
    assert printed(BREAK + NAMES, AMPLIFIER_ENGINE="python")["available"] is False


def test_a_session_gives_the_same_result_without_the_extension():
    hidden, shown = printed(HIDE + SESSION), printed(SESSION)
    assert (hidden["rust"], shown["rust"]) == (False, True)
    assert hidden["result"]["answer"] == "done"
    assert hidden["result"]["asked"] == 2
    assert {"session:start", "tool:pre", "tool:post", "session:end"} <= {
        *hidden["result"]["events"]
    }
    assert hidden["result"] == shown["result"]


def test_the_command_says_in_one_line_what_is_missing():
    program = "import sys; sys.argv = ['amplifier-core', 'run', 'hi']\n"
    done = run(HIDE + program + "from amplifier_app.cli import main; main()")
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: the extension `amplifier_core._engine` cannot be loaded")


@pytest.mark.parametrize("package", ["amplifier_stream", "amplifier_guard"])
def test_packages_that_need_the_extension_name_it(package):
    done = run(HIDE + f"import warnings; warnings.simplefilter('ignore'); import {package}")
    assert done.stderr.splitlines()[-1] == (
        f"ModuleNotFoundError: `{package}` needs the extension `amplifier_core._engine`, "
        "which is missing here"
    )


def test_using_the_extension_does_not_load_the_sessions_in_plain_python():
    program = """
import json, sys
import amplifier_core
from amplifier_core import AmplifierSession, HookRegistry, ModuleCoordinator
import amplifier_core.events, amplifier_core._session_init, amplifier_core.loader
twins = ("cancellation", "coordinator", "hooks", "session")
print(json.dumps([name for name in twins if f"amplifier_core.{name}" in sys.modules]))
"""
    assert printed(program) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
def test_plain_python_works_in_a_fork():
    program = """
import asyncio, json, os
from amplifier_core.coordinator import ModuleCoordinator

coordinator = ModuleCoordinator()
coordinator.hooks.register("e", lambda *_: {"action": "deny", "reason": "before the fork"})

def deny():
    return asyncio.run(coordinator.hooks.emit("e", {})).reason

before = deny()
child = os.fork()
if child == 0:
    os._exit(0 if deny() == before else 1)
_, status = os.waitpid(child, 0)
print(json.dumps([before, deny(), os.waitstatus_to_exitcode(status)]))
"""
    assert printed(program) == ["before the fork", "before the fork", 0]
