"""Ctrl+C and the signals that end a program."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_app.interrupt import Interruption

CTRL_C = b"\x03"
GRACEFUL = "stopping after the running tool; press Ctrl+C again to stop now"
WAIT = {"type": "tool_use", "id": "t1", "name": "wait", "input": {}}

# Takes the place of `tool-search`: a tool that runs until the test lets it go, and a clean-up
# that saves the history and can be interrupted.
WAITING_MODULE = """
import json, os, signal
from pathlib import Path

import anyio
from amplifier_core import ToolResult

__amplifier_module_type__ = "tool"

class Wait:
    name = "wait"
    description = "waits"
    input_schema = {"type": "object", "properties": {}}

    async def execute(self, input):
        gate = Path(os.environ["GATE"])
        text = await anyio.to_thread.run_sync(gate.read_text, abandon_on_cancel=True)
        return ToolResult(success=True, output=text)

async def mount(coordinator, config=None):
    await coordinator.mount("tools", Wait(), name="wait")

    async def clean_up():
        messages = await coordinator.get("context").get_messages()
        Path(os.environ["HISTORY"]).write_text(json.dumps(messages))
        if os.environ.get("INTERRUPT_AT") == "cleanup":
            os.kill(os.getpid(), signal.SIGINT)

    return clean_up
"""

# Puts the tool into our own table, and presses Ctrl+C at the moment a module is imported.
INTERRUPTING_SITE = """
import os, signal, sys

from amplifier_modules import MODULES

MODULES["tool-search"] = "waiting_tool"

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ.get("INTERRUPT_AT"):
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
"""


class Terminal:
    """The command in a terminal of its own."""

    def __init__(self, command: Any, *arguments: str) -> None:
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            os.chdir(command.folder)
            os.execve(command.line[0], [*command.line, *arguments], command.environment)
        self.screen = ""

    def type(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def read_until(self, text: str) -> None:
        """Read what the command draws until `text` is there."""
        while text not in self.screen:
            assert self._read(), f"{text!r} never came:\n{self.screen}"

    def wait(self) -> int:
        """Read to the end; returns the exit code."""
        while self._read():
            pass
        os.close(self._master)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], 60)
        assert ready, f"the command hangs:\n{self.screen}"
        try:
            piece = os.read(self._master, 65536)
        except OSError:  # how Linux says that the other side has gone
            return False
        self.screen += piece.decode(errors="replace")
        return bool(piece)


@pytest.fixture
def waiting(keyed: Any, tmp_path: Path) -> Iterator[Any]:
    """The command with the tool `wait`, whose gate is a pipe in the file system."""
    modules = tmp_path / "modules"
    package = modules / "waiting_tool"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(WAITING_MODULE)
    (modules / "sitecustomize.py").write_text(INTERRUPTING_SITE)
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    keyed.environment["PYTHONPATH"] = f"{modules}:{keyed.environment['PYTHONPATH']}"
    keyed.environment |= {"GATE": str(gate), "HISTORY": str(tmp_path / "history")}
    keyed.environment |= {"TERM": "xterm", "NO_COLOR": "1"}
    return keyed


def history(command: Any) -> list[tuple[str, Any]]:
    """Roles of the messages in order, with the calls they make or answer."""
    messages = json.loads(Path(command.environment["HISTORY"]).read_text())
    return [
        (
            message["role"],
            message.get("tool_call_id") or [call["id"] for call in message.get("tool_calls") or []],
        )
        for message in messages
    ]


def test_once_ends_the_turn_after_the_running_tool(waiting: Any, model: Any) -> None:
    model.reply(*model.said(WAIT, stop="tool_use"))
    terminal = Terminal(waiting, "run", "hello")
    terminal.read_until("running wait")
    terminal.type(CTRL_C)
    terminal.read_until(GRACEFUL)
    Path(waiting.environment["GATE"]).write_text("the tool ended by itself")

    assert terminal.wait() == 130
    assert "✓ 1 wait: the tool ended by itself" in terminal.screen
    assert "Traceback" not in terminal.screen
    assert len(model.requests) == 1
    assert history(waiting)[:3] == [
        ("user", []),
        ("assistant", ["t1"]),
        ("tool", "t1"),
    ]


def test_once_ends_the_wait_for_a_model_that_cannot_answer(waiting: Any, model: Any) -> None:
    model.reply(b"{}", status=503)
    waiting.environment |= {"PROVIDER_MAX_RETRIES": "1", "PROVIDER_RETRY_DELAY": "60"}
    waiting.environment["PROVIDER_RETRY_BUDGET"] = "100000"
    terminal = Terminal(waiting, "run", "hello")
    terminal.read_until("server error (503), retrying in ")
    terminal.type(CTRL_C)

    assert terminal.wait() == 130
    assert "error:" not in terminal.screen
    assert len(model.requests) == 1
    assert history(waiting)[:1] == [("user", [])]


def test_twice_ends_the_turn_at_once(waiting: Any, model: Any) -> None:
    model.reply(*model.said(WAIT, stop="tool_use"))
    terminal = Terminal(waiting, "run", "hello")
    terminal.read_until("running wait")
    terminal.type(CTRL_C)
    terminal.read_until(GRACEFUL)
    started = time.monotonic()
    terminal.type(CTRL_C)

    assert terminal.wait() == 130
    assert time.monotonic() - started < 5
    assert "stopping now" in terminal.screen
    assert "Traceback" not in terminal.screen
    assert len(model.requests) == 1
    assert history(waiting)[:3] == [
        ("user", []),
        ("assistant", ["t1"]),
        ("tool", "t1"),
    ]


def test_once_ends_an_answer_that_is_still_coming_and_keeps_what_is_written(
    waiting: Any, model: Any
) -> None:
    hold = threading.Event()
    pieces = model.said({"type": "text", "text": "One moment please, "})
    model.reply(*pieces[:3], hold, *pieces[3:])
    try:
        terminal = Terminal(waiting, "run", "hello")
        terminal.read_until("moment")
        terminal.type(CTRL_C)
        assert terminal.wait() == 130
    finally:
        hold.set()
    assert "One moment please," in terminal.screen
    assert "stopping now" in terminal.screen
    assert "Traceback" not in terminal.screen
    assert history(waiting) == [("user", []), ("assistant", [])]


@pytest.mark.parametrize("options", [["--verbose"], ["--json"]], ids=["display", "json"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_termination_ends_the_turn_at_once_and_cleans_up(
    waiting: Any, model: Any, options: list[str], number: signal.Signals
) -> None:
    answer = model.reply(*model.said(WAIT, stop="tool_use"))
    process = subprocess.Popen(
        [*waiting.line, "run", *options, "hello"],
        cwd=waiting.folder,
        env=waiting.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert answer.arrived.wait(60)
        seen = (
            [next(line for line in process.stdout if "wait" in line and "tool" in line)]
            if options == ["--json"]
            else [next(line for line in process.stdout if "1 wait" in line)]
        )
        process.send_signal(number)
        seen.extend(process.stdout)
        errors = process.stderr.read()
    assert process.returncode == 128 + number
    said = [line for line in errors.splitlines() if not line.startswith("INFO ")]
    assert len(said) == 1
    if options == ["--json"]:
        events = [json.loads(line) for line in seen[1:]]
        assert "session:end" in [event["event"] for event in events]
        last = events[-1]
        assert (last["event"], last["data"]["status"]) == ("outcome", "cancelled")


DRAWING = ("amplifier_app.display.session_display", "rich.console")


@pytest.mark.parametrize(
    "moment",
    [
        "click",
        "amplifier_app.commands.command_line",
        "amplifier_app.commands.start",
        "asyncio",
        "amplifier_core",
        *DRAWING,
        "amplifier_core.loader",
        "amplifier_modules.loops.streaming",
        "amplifier_modules.providers.anthropic",
        "amplifier_modules.tools.filesystem",
        "waiting_tool",
        "cleanup",
    ],
)
@pytest.mark.parametrize("options", ["--verbose", "--json"])
def test_at_any_moment_there_is_no_traceback_and_one_outcome(
    waiting: Any, model: Any, moment: str, options: str
) -> None:
    if options == "--json" and moment in DRAWING:
        pytest.skip("JSON lines are not drawn")
    model.reply(*model.said({"type": "text", "text": "Done."}))
    waiting.environment["INTERRUPT_AT"] = moment

    done = waiting("run", options, "hello")

    # During the clean-up the answer is there already.
    assert done.returncode == (0 if moment == "cleanup" else 130)
    assert "Traceback" not in done.stderr
    said = {line for line in done.stderr.splitlines() if not line.startswith("INFO ")}
    assert said <= {"stopping now"}
    if options == "--json":
        events = [json.loads(line) for line in done.stdout.splitlines()]
        outcomes = [each["data"]["status"] for each in events if each["event"] == "outcome"]
        assert outcomes == ["completed" if moment == "cleanup" else "cancelled"]
        assert events[-1]["event"] == "outcome"


def test_a_signal_that_the_parent_ignores_stays_ignored(waiting: Any, model: Any) -> None:
    model.reply(*model.said({"type": "text", "text": "Done."}))
    script = 'trap "" HUP INT; exec "$@"'
    waiting.environment["INTERRUPT_AT"] = "cleanup"
    done = subprocess.run(
        ["bash", "-c", script, "bash", *waiting.line, "run", "hello"],
        cwd=waiting.folder,
        env=waiting.environment,
        capture_output=True,
        check=False,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


class Told:
    """What an interruption does; `running` are the tools that run."""

    def __init__(self, *running: str) -> None:
        self.acts: list[str] = []
        self.running_tools = set(running)

    def request_graceful(self) -> bool:
        self.acts.append("graceful")
        return True

    def request_immediate(self) -> bool:
        self.acts.append("immediate")
        return True

    def interruption(self) -> Interruption:
        return Interruption(
            self,
            lambda: self.acts.append("stop"),
            lambda _: None,
            lambda code: self.acts.append(f"leave {code}"),
        )


def test_the_stages_in_order_while_a_tool_runs() -> None:
    told = Told("grep")
    interruption = told.interruption()
    assert interruption.exit_code == 0
    interruption.press()
    assert (interruption.exit_code, told.acts) == (130, ["graceful"])
    interruption.press()
    assert told.acts == ["graceful", "immediate", "stop"]
    interruption.press()
    assert told.acts[3:] == ["leave 130"]
    interruption.end("SIGTERM")
    assert (interruption.exit_code, interruption.reason) == (143, "terminated")


def test_without_a_tool_the_first_stops_at_once() -> None:
    told = Told()
    interruption = told.interruption()
    interruption.press()
    assert (interruption.exit_code, told.acts) == (130, ["immediate", "stop"])
    interruption.press()
    assert told.acts[2:] == ["leave 130"]
