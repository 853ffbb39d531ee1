"""What `hooks-observe` tells of a session: traces, statistics, failures; and no secret in any of it."""

from __future__ import annotations

import itertools
import json
import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from amplifier_core import ModuleCoordinator
from amplifier_core.events import LLM_REQUEST, LLM_RESPONSE, TOOL_PRE
from amplifier_core.llm_errors import ConfigurationError, RateLimitError
from amplifier_core.message_models import Usage
from amplifier_core.models import ToolResult
from amplifier_guard import Redactor
from amplifier_modules import MODULES
from amplifier_modules.hooks import observe
from amplifier_modules.hooks.observe.session import SessionObserver
from amplifier_modules.hooks.observe.settings import ObserveSettings
from amplifier_modules.hooks.observe.traces import ToolTrace, ToolTraces
from amplifier_providers.settings import read_settings
from amplifier_providers.statistics import Labels, Statistics

START = datetime(2026, 1, 2, tzinfo=UTC)
SECRET = "hunter2-hunter2-hunter2"


def clocks(step: float = 1.0) -> dict[str, Any]:
    """A clock that goes on by one step each time it is asked, and the time of day with it."""
    ticks, moments = itertools.count(), itertools.count()
    return {
        "now": lambda: START + timedelta(seconds=step * next(moments)),
        "clock": lambda: step * next(ticks),
    }


def observed(turn: Any, *secrets: str, **settings: Any) -> SessionObserver:
    observer = SessionObserver(ObserveSettings(**settings), Redactor(list(secrets)), **clocks())
    observer.attach(turn.coordinator.hooks)
    return observer


# Holds: observe-1
async def test_each_tool_call_leaves_a_trace_by_which_its_result_is_found(bench, say):
    turn = bench("basic", say.calls(("toolu_1", "look", {"x": 1})), say.text("done"))
    turn.tool("look", lambda given: "seen")
    observer = observed(turn)
    await turn.run()

    (trace,) = observer.traces
    assert trace == ToolTrace(
        tool_use_id="toolu_1",
        tool="look",
        start=trace.start,
        end=trace.end,
        duration=1.0,
        result_bytes=len(json.dumps({"success": True, "output": "seen", "error": None})),
        error=None,
    )
    assert trace.start < trace.end
    assert str(trace) == "tool `look` (toolu_1): 1000.0 ms, 50 bytes"


async def test_concurrent_calls_are_told_apart(bench, say):
    turn = bench("basic", say.calls(("1", "a", {}), ("2", "b", {}), ("3", "a", {})), say.text(""))
    turn.tool("a", lambda given: "seen")
    turn.tool("b", lambda given: ToolResult(success=False, error={"message": "no"}))
    observer = observed(turn)
    await turn.run()

    traces = sorted(observer.traces, key=lambda trace: trace.tool_use_id)
    assert [(each.tool_use_id, each.tool, each.error) for each in traces] == [
        ("1", "a", None),
        ("2", "b", "failure"),
        ("3", "a", None),
    ]


# Holds: observe-2
async def test_a_tool_that_raises_is_a_failure_with_what_was_done_before(bench, say):
    turn = bench("basic", say.calls(("toolu_9", "look", {})), say.text("done"))

    def fail(given: Any) -> str:
        raise LookupError(f"not found with password={SECRET}")

    turn.tool("look", fail)
    observer = observed(turn)
    await turn.run()

    (failure,) = observer.failures
    assert failure.operation == "tool look"
    assert failure.tool_use_id == "toolu_9"
    assert failure.metadata == {
        "error": "LookupError",
        "message": "not found with password=[REDACTED:password]",
    }
    assert [(past.operation, past.error) for past in failure.history] == [
        ("model scripted", None),
        ("tool look", "LookupError"),
    ]
    assert observer.statistics.snapshot()["errors"] == {"LookupError": 1}


async def test_a_call_that_a_hook_denies_has_a_trace_without_a_duration(bench, say):
    turn = bench("basic", say.calls(("1", "look", {})), say.text("done"))
    look = turn.tool("look", lambda given: "seen")
    turn.answer_hook(TOOL_PRE, action="deny", reason="no")
    observer = observed(turn)
    await turn.run()

    (trace,) = observer.traces
    assert look.inputs == []
    assert (trace.duration, trace.start) == (None, trace.end)
    assert trace.error
    assert str(trace) == f"tool `look` (1): did not run, failed: {trace.error}"


async def test_content_is_counted_by_the_type_of_its_blocks(bench, say):
    turn = bench(
        "basic", say.calls(("1", "look", {"x": 1}), text="let me see"), say.text("done", usage=Usage(
            input_tokens=7, output_tokens=2, total_tokens=9
        )),
    )  # fmt: skip
    turn.tool("look", lambda given: "seen")
    observer = observed(turn)
    await turn.run("go on")

    found = observer.statistics.snapshot()
    assert found["blocks"] == {"text": 3, "tool_call": 1, "tool_result": 1}
    assert found["characters"] == {
        "text": len("go on") + len("let me see") + len("done"),
        "tool_call": len('{"x": 1}'),
        "tool_result": len("seen"),
    }
    assert found["tokens"] == {"input": 7, "output": 2}
    durations = found["durations_seconds"]
    assert {name: list(each) for name, each in durations.items()} == {
        "turn": ["turn"],
        "tool": ["look"],
        "model": ["scripted"],
    }
    assert durations["tool"]["look"]["count"] == 1
    assert durations["model"]["scripted"]["count"] == 2


@pytest.mark.parametrize("budget", [None, {"tool_calls": 3}])
async def test_each_result_of_a_tool_is_counted_also_one_of_a_failure(bench, say, budget):
    calls = (("1", "look", {}), ("2", "fail", {}), ("3", "unknown", {}), ("4", "refuse", {}))
    turn = bench("basic", say.calls(*calls), say.text("done"), config={"budget": budget})

    def fail(given: Any) -> str:
        raise LookupError("not found")

    turn.tool("look", lambda given: "seen")
    turn.tool("fail", fail)
    turn.tool("refuse", lambda given: ToolResult(success=False, error={"message": "no"}))
    observer = observed(turn)
    await turn.run("go")

    results = [each for each in await turn.history() if each["role"] == "tool"]
    assert len(results) == 4
    assert observer.statistics.snapshot()["blocks"]["tool_result"] == 4


async def test_an_error_of_the_provider_is_counted_by_its_type(bench, say):
    turn = bench("basic", RateLimitError(f"slow down, token={SECRET}"))
    observer = observed(turn)
    with pytest.raises(RateLimitError):
        await turn.run()

    (failure,) = observer.failures
    assert failure.operation == "model"
    assert failure.metadata["error"] == "RateLimitError"
    assert SECRET not in str(failure)
    assert observer.statistics.snapshot()["errors"] == {"RateLimitError": 1}


async def test_calls_of_which_only_the_provider_tells_are_measured_too():
    coordinator = ModuleCoordinator()
    observer = SessionObserver(ObserveSettings(), Redactor(), **clocks())
    observer.attach(coordinator.hooks)
    await coordinator.hooks.emit(LLM_REQUEST, {"provider": "p", "model": "m"})
    usage = {"input_tokens": 3, "output_tokens": True}
    data = {"provider": "p", "model": "m-1", "status": "ok", "usage": usage}
    await coordinator.hooks.emit(LLM_RESPONSE, data)
    await coordinator.hooks.emit(LLM_RESPONSE, data)

    found = observer.statistics.snapshot()
    assert found["durations_seconds"]["model"]["p/m"]["count"] == 1
    assert found["tokens"] == {"input": 3}


async def test_a_call_that_was_cancelled_is_no_completed_one(caplog):
    caplog.set_level("DEBUG")
    coordinator = ModuleCoordinator()
    observer = SessionObserver(ObserveSettings(), Redactor(), **clocks())
    observer.attach(coordinator.hooks)
    data = {"provider": "p", "model": "m"}
    await coordinator.hooks.emit(LLM_REQUEST, data)
    await coordinator.hooks.emit(LLM_RESPONSE, {**data, "status": "cancelled"})

    [said] = [text for text in caplog.messages if text.startswith("model `p/m`")]
    assert said.endswith(" ms, cancelled")


# Holds: observe-4
async def test_no_secret_is_left_in_what_is_told(bench, say, caplog):
    turn = bench("basic", say.calls((SECRET, SECRET, {"x": SECRET}), text=SECRET), say.text(SECRET))

    def fail(given: Any) -> str:
        raise RuntimeError(SECRET)

    turn.tool(SECRET, fail)
    observer = observed(turn, SECRET, development=True)
    with caplog.at_level(logging.DEBUG, "amplifier_modules.hooks.observe"):
        await turn.run(f"my key is {SECRET}")

    told = json.dumps(observer.snapshot()) + "".join(
        record.getMessage() for record in caplog.records if "observe" in record.name
    )
    assert "REDACTED" in told
    assert [
        SECRET[at : at + 8] for at in range(len(SECRET) - 7) if SECRET[at : at + 8] in told
    ] == []


async def test_blocks_are_inspected_in_development_alone(bench, say, caplog):
    for development in (False, True):
        caplog.clear()
        turn = bench("basic", say.text("an\u200banswer"))
        observed(turn, development=development)
        with caplog.at_level(logging.DEBUG, "amplifier_modules.hooks.observe"):
            await turn.run("a question")
        lines = [record.getMessage() for record in caplog.records]
        shown = [line for line in lines if "#0" in line]
        assert shown == (
            [
                "prompt #0 text (10 characters, 10 bytes) a question",
                "answer #0 text (9 characters, 11 bytes) an\\u{200b}answer",
            ]
            if development
            else []
        )


# Holds: observe-3
def test_memory_is_bounded_whatever_comes():
    traces = ToolTraces(3, **clocks())
    for number in range(100):
        traces.begin(f"open-{number}")
        traces.finish(f"{number}", f"tool-{number}", None, None)
    assert [trace.tool_use_id for trace in traces] == ["97", "98", "99"]
    assert traces.finish("open-0", "tool", None, None).duration is None
    assert traces.finish("open-99", "tool", None, None).duration is not None

    statistics = Statistics(2)
    for number in range(100):
        statistics.block(f"type-{number}", 1)
        statistics.count_error(f"error-{number}")
        statistics.count_duration("tool", f"tool-{number}", 1.0)
    found = statistics.snapshot()
    assert found["blocks"] == {"type-0": 1, "type-1": 1, "_OTHER": 98}
    assert found["errors"] == {"error-0": 1, "error-1": 1, "_OTHER": 98}
    counts = {name: each["count"] for name, each in found["durations_seconds"]["tool"].items()}
    assert counts == {"tool-0": 1, "tool-1": 1, "_OTHER": 98}


def test_a_label_that_was_taken_stays():
    labels = Labels(1)
    assert [labels.label(name) for name in ("a", "b", "a", "b")] == ["a", "_OTHER", "a", "_OTHER"]


def test_a_snapshot_is_independent_of_what_comes_later():
    statistics = Statistics(4)
    statistics.block("text", 1)
    before = statistics.snapshot()
    statistics.block("text", 1)
    assert before["blocks"] == {"text": 1}


async def test_it_mounts_as_a_module_and_lets_go(bench, say):
    turn = bench("basic", say.text("done"))
    cleanup = await observe.mount(turn.coordinator, {"opentelemetry": False})
    observer = turn.coordinator.get_capability("observe.session")
    await turn.run()
    before = observer.snapshot()
    assert before["blocks"] == {"text": 2}

    cleanup()
    turn.provider.script.append(say.text("again"))
    await turn.run()
    assert observer.snapshot() == before
    assert MODULES["hooks-observe"] == observe.__name__


async def test_decisions_of_the_engine_are_logged_while_it_is_mounted(bench, say, caplog):
    turn = bench("basic", say.calls(("1", "look", {})), say.text("done"))
    turn.tool("look", lambda given: "seen")
    turn.answer_hook(TOOL_PRE, action="deny", reason="no")
    cleanup = await observe.mount(turn.coordinator, {"rust": "debug", "opentelemetry": False})
    with caplog.at_level(logging.DEBUG, "amplifier_core.hook"):
        await turn.run()
        cleanup()
        turn.provider.script.append(say.calls(("2", "look", {})))
        turn.provider.script.append(say.text("done"))
        await turn.run()
    told = [each.getMessage() for each in caplog.records if each.name == "amplifier_core.hook"]
    assert told == ['denied event="tool:pre" hook="hook"']


async def test_it_takes_the_redactor_that_knows_the_keys(bench, say):
    turn = bench("basic", RuntimeError(f"no {SECRET}"))
    turn.coordinator.register_capability("guard.redactor", Redactor([SECRET]))
    await observe.mount(turn.coordinator, {})
    with pytest.raises(RuntimeError):
        await turn.run()
    (failure,) = turn.coordinator.get_capability("observe.session").failures
    assert failure.metadata["message"] == "no [REDACTED:secret]"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"most_traces": 0},
            "hooks-observe: `most_traces` is 0 .must be a whole number, at least 1, ",
        ),
        ({"develop": True}, "hooks-observe: `develop` is unknown .did you mean `development`"),
        ({"rust": "loud"}, "hooks-observe: `rust` is 'loud' .must be `off`, `error`, "),
        ({"opentelemetry": 7}, "hooks-observe: `opentelemetry` is 7 .must be true or false"),
    ],
)
async def test_a_config_that_is_no_use_is_refused_by_name(config, message):
    with pytest.raises(ConfigurationError, match=message):
        await observe.mount(ModuleCoordinator(), config)


@pytest.mark.parametrize(("value", "expected"), [("1", True), ("ON", True), ("0", False)])
async def test_the_environment_turns_development_on(monkeypatch, value, expected):
    monkeypatch.setenv("AMPLIFIER_DEVELOPMENT", value)

    for config in ({}, {"development": None}):
        assert read_settings(ObserveSettings, config, "hooks-observe").development is expected
    config = {"development": False}
    assert read_settings(ObserveSettings, config, "hooks-observe").development is False
