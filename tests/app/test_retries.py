"""The command before a server that cannot answer: what it shows, how often it asks, how it ends."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import pytest

from amplifier_app.commands.settings import guard_settings, provider_settings
from amplifier_app.display import Display
from amplifier_app.display.screen import Screen
from amplifier_app.failure import Failure

ANSWER = {"type": "text", "text": "All is well."}


def refuse(model: Any, status: int, kind: str = "api_error") -> None:
    body = {"type": "error", "error": {"type": kind, "message": "not now"}}
    model.reply(json.dumps(body).encode(), status=status)


@pytest.fixture
def patient(keyed: Any) -> Any:
    """The command with the retries of its defaults, but for the time they take."""
    del keyed.environment["PROVIDER_MAX_RETRIES"]
    keyed.environment["PROVIDER_RETRY_DELAY"] = "0"
    return keyed


def test_an_overloaded_model_is_asked_again_with_one_line_for_each_time(
    patient: Any, model: Any
) -> None:
    refuse(model, 529, "overloaded_error")
    refuse(model, 529, "overloaded_error")
    model.reply(*model.said(ANSWER))

    done = patient("run", "hello")

    assert (done.returncode, done.stdout) == (0, "All is well.\n")
    assert done.stderr == "overloaded (529), retrying in 0.1 s\n" * 2
    assert len(model.requests) == 3


def test_programs_are_told_of_each_retry(patient: Any, model: Any) -> None:
    refuse(model, 503)
    model.reply(*model.said(ANSWER))

    done = patient("run", "--json", "hello")

    lines = [json.loads(line) for line in done.stdout.splitlines()]
    [told] = [line["data"] for line in lines if line["event"] == "provider:retry"]
    facts = {"provider": "anthropic", "attempt": 1, "max_retries": 5, "status_code": 503}
    assert facts.items() <= told.items()
    [asked] = [line["data"] for line in lines if line["event"] == "llm:request"]
    assert told["request_id"] == asked["request_id"]


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["display", "json"])
def test_what_is_told_of_a_retry_holds_no_secret(
    patient: Any, model: Any, options: list[str]
) -> None:
    key = patient.environment["ANTHROPIC_API_KEY"]
    body = {"type": "error", "error": {"type": "api_error", "message": f"no luck with {key}"}}
    model.reply(json.dumps(body).encode(), status=500)
    model.reply(*model.said(ANSWER))

    done = patient("run", *options, "hello")

    assert done.returncode == 0
    assert key not in done.stdout + done.stderr
    assert ("no luck with" in done.stdout) == bool(options)


def test_a_model_that_never_answers_is_asked_six_times_and_is_a_failure(
    patient: Any, model: Any
) -> None:
    refuse(model, 500)

    done = patient("run", "hello")

    assert (done.returncode, done.stdout) == (1, "")
    *waits, line = done.stderr.splitlines()
    assert waits == ["server error (500), retrying in 0.1 s"] * 5
    assert line.startswith("error: Anthropic API error (500 api_error): not now; ")
    assert len(model.requests) == 6


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_what_the_model_refuses_is_not_asked_again(patient: Any, model: Any, status: int) -> None:
    refuse(model, status)

    done = patient("run", "hello")

    assert (done.returncode, done.stdout) == (1, "")
    assert len(model.requests) == 1


# Holds: failure-11
def test_what_was_shown_is_not_shown_again(patient: Any, model: Any) -> None:
    model.reply(*model.said(ANSWER)[:3])

    done = patient("run", "--verbose", "hello")

    figures = "40 tokens in (75% cached) · 1 out · 1 model call"
    assert (done.returncode, done.stdout) == (1, f"All is well.\n\n{figures}\n")
    assert len(model.requests) == 1


def test_a_rate_of_the_model_that_is_used_up_for_long_is_a_failure(keyed: Any, model: Any) -> None:
    keyed.environment["PROVIDER_RATE"] = "1/1000"
    call = {"type": "tool_use", "id": "t1", "name": "list_directory", "input": {}}
    model.reply(*model.said(call, stop="tool_use"))

    done = keyed("run", "hello")

    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert re.fullmatch(r"error: rate limit of `anthropic` reached; retry in \d+ s", line)
    assert len(model.requests) == 1


def test_a_rate_of_tools_that_is_used_up_is_an_error_to_the_model(keyed: Any, model: Any) -> None:
    keyed.environment["TOOL_RATE"] = "1/1000"
    calls = [
        {"type": "tool_use", "id": f"t{n}", "name": "list_directory", "input": {}} for n in (1, 2)
    ]
    model.reply(*model.said(*calls, stop="tool_use"))
    model.reply(*model.said(ANSWER))

    done = keyed("run", "--verbose", "hello")

    assert done.returncode == 0
    results = [block.get("is_error") for block in model.requests[1]["messages"][-1]["content"]]
    assert sorted(map(bool, results)) == [False, True]
    assert "rate limit of this tool reached" in done.stdout


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ({"reason": "overloaded (529)", "delay": 2.0}, "overloaded (529), retrying in 2 s"),
        (
            {"reason": "connection failed", "delay": 1.46},
            "connection failed, retrying in 1.5 s",
        ),
        ({"reason": "connection failed", "delay": 42.4}, "connection failed, retrying in 42 s"),
        ({"reason": "connection failed"}, "connection failed"),
        ({"reason": "a\nb\x1b[2J", "delay": 1}, r"a b\x1b[2J, retrying in 1 s"),
        (
            {"provider": "other", "error_message": "busy", "delay": 3},
            "other: busy; retrying in 3 s",
        ),
        ({"provider": "other", "error": {"msg": "busy"}}, "other: busy"),
    ],
)
def test_a_retry_is_one_line(data: dict[str, Any], line: str) -> None:
    screen = io.StringIO()
    display = Display(Screen(screen))

    display.handle("provider:retry", data)
    display.finish()

    assert screen.getvalue() == f"{line}\n"


def test_a_wait_for_the_rate_is_one_line() -> None:
    screen = io.StringIO()
    display = Display(Screen(screen))

    display.handle("provider:throttle", {"reason": "rate limit reached", "delay": 4})
    display.finish()

    assert screen.getvalue() == "rate limit reached, continuing in 4 s\n"


def test_a_download_is_a_line_a_quarter_and_a_line_a_step() -> None:
    screen = io.StringIO()
    display = Display(Screen(screen))
    total = 5_000_000_000

    display.handle("provider:pull_progress", {"model": "m\x1b[2J", "status": "pulling manifest"})
    for percent in range(101):
        sizes = {"completed": total * percent // 100, "total": total}
        display.handle("provider:pull_progress", {"model": "m", "status": "pulling a", **sizes})
    small = {"model": "m", "status": "pulling b", "completed": 5, "total": 5}
    display.handle("provider:pull_progress", small)
    display.finish()

    assert screen.getvalue().splitlines() == [
        r"downloading `m\x1b[2J`: pulling manifest",
        *(f"downloading `m`: {percent} % of 5.0 GB" for percent in (0, 25, 50, 75, 100)),
    ]


def test_the_environment_sets_retries_and_rates() -> None:
    environment = {
        "PROVIDER_MAX_RETRIES": " 3 ", "PROVIDER_RETRY_DELAY": "0.5", "PROVIDER_RETRY_BUDGET": "60",
        "PROVIDER_RATE": "30/10", "TOOL_RATE": "5",
        "PROVIDER_PRICES": '{"gpt": {"input": 1.25, "output": "10"}}',
    }  # fmt: skip
    limits = provider_settings({})
    assert limits == {"content_timeout": 600.0, "max_answer_bytes": 64 * 1024**2}
    assert provider_settings(environment) == {
        **limits,
        "max_retries": 3,
        "min_retry_delay": 0.5,
        "retry_budget": 60.0,
        "rate": {"limit": 30, "period": 10.0},
        "prices": {"gpt": {"input": 1.25, "output": "10"}},
    }
    assert guard_settings(environment) == {"rates": {"tool": {"limit": 5, "period": 60.0}}}
    blank = {"PROVIDER_MAX_RETRIES": " "}
    assert (provider_settings(blank), guard_settings({})) == (limits, {})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("PROVIDER_MAX_RETRIES", value) for value in ("-1", "two", "1.5", "1001", "9" * 9999)),
        *(("PROVIDER_MAX_RETRIES", value) for value in ("5.0", "1_0", "+5", "1e1", "\u0663")),
        *(("PROVIDER_RETRY_DELAY", value) for value in ("-1", "soon", "nan", "inf")),
        *(("PROVIDER_RATE", value) for value in ("0", "x", "1/0", "1/-2", "1/x", "/60", "1/nan")),
        *(("PROVIDER_PRICES", value) for value in ("cheap", "3", "[]", "{", "{1: 2}")),
        *(("TOOL_RATE", value) for value in ("0", "1/1e9")),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(name: str, value: str) -> None:
    read = guard_settings if name == "TOOL_RATE" else provider_settings
    with pytest.raises(Failure, match=f"`{name}` is ") as raised:
        read({name: value})
    assert raised.value.hint == "correct the environment variable"


def test_a_setting_that_cannot_be_used_ends_the_command(keyed: Any, model: Any) -> None:
    keyed.environment["PROVIDER_MAX_RETRIES"] = "many"

    done = keyed("run", "hello")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(
        "error: `PROVIDER_MAX_RETRIES` is 'many' (must be a whole number, "
    )
    assert model.requests == []
