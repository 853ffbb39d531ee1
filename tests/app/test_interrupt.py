"""Ctrl+C and the signals that end a program."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import Any

import pytest

from amplifier_app.interrupt import Interruption

WAIT = {"type": "tool_use", "id": "t1", "name": "wait", "input": {}}


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


# Holds: command-6
@pytest.mark.parametrize(
    "moment",
    [
        "click",
        "amplifier_app.command_line",
        "amplifier_app.commands.start",
        "asyncio",
        "amplifier_core",
        *DRAWING,
        "amplifier_core.loader",
        "amplifier_modules.loops.streaming",
        "amplifier_providers.anthropic",
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

    done = subprocess.run(
        [*waiting.line, "run", options, "hello"],
        cwd=waiting.folder,
        env=waiting.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        text=True,
    )

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
