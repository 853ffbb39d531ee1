"""Each kind of failure: one line with the way out, no answer, an exit code and an outcome."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

ANSWER = {"type": "text", "text": "All is well."}


def refusal(status: int, kind: str, message: str) -> Callable[[Any, Any, Any], None]:
    def set_up(command: Any, model: Any, hold: Any) -> None:
        body = {"type": "error", "error": {"type": kind, "message": message}}
        model.reply(json.dumps(body).encode(), status=status)

    return set_up


def page(command: Any, model: Any, hold: Any) -> None:
    headers = {"Content-Type": "text/html"}
    model.reply(b"<!doctype html><title>Log in</title>", headers=headers)


def error_page(command: Any, model: Any, hold: Any) -> None:
    headers = {"Content-Type": "text/html"}
    model.reply(b"<html><h1>Bad Gateway</h1></html>", status=502, headers=headers)


def slow(command: Any, model: Any, hold: Any) -> None:
    command.environment["PROVIDER_CONTENT_TIMEOUT"] = "0.2"
    model.reply(model.said(ANSWER)[0], hold)


def cut(command: Any, model: Any, hold: Any) -> None:
    model.reply(*model.said(ANSWER)[:4])


def unreachable(command: Any, model: Any, hold: Any) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        command.environment["ANTHROPIC_BASE_URL"] = f"http://127.0.0.1:{unused.getsockname()[1]}"


API = "Anthropic API error"
LISTS = "`amplifier-core provider models anthropic` lists the models"
FAILURES = {
    "401": (
        refusal(401, "authentication_error", "invalid x-api-key"),
        f"{API} (401 authentication_error): invalid x-api-key",
        "the key was refused; check `ANTHROPIC_API_KEY`",
        "AuthenticationError",
    ),
    "403": (
        refusal(403, "permission_error", "not allowed"),
        f"{API} (403 permission_error): not allowed",
        "the key lacks access; check its permissions",
        "AccessDeniedError",
    ),
    "404": (
        refusal(404, "not_found_error", "model: nope"),
        f"{API} (404 not_found_error): model: nope",
        f"check the name of the model and `ANTHROPIC_BASE_URL`; {LISTS}",
        "NotFoundError",
    ),
    "429": (
        refusal(429, "rate_limit_error", "too many"),
        f"{API} (429 rate_limit_error): too many",
        "too many requests; retry later",
        "RateLimitError",
    ),
    "500": (
        refusal(500, "api_error", "internal"),
        f"{API} (500 api_error): internal",
        "the server is unavailable; retry later",
        "ProviderUnavailableError",
    ),
    "529": (
        refusal(529, "overloaded_error", "Overloaded"),
        f"{API} (529 overloaded_error): Overloaded",
        "the server is unavailable; retry later",
        "ProviderUnavailableError",
    ),
    "page": (
        page,
        "`{url}/v1/messages` answered with `text/html` instead of an event stream",
        "check `ANTHROPIC_BASE_URL`",
        "ConfigurationError",
    ),
    "error page": (
        error_page,
        f"{API} (502 api_error): Bad Gateway",
        "the server is unavailable; retry later",
        "ProviderUnavailableError",
    ),
    "slow": (
        slow,
        (
            "no content of the answer of `claude-sonnet-5-5` within 0.2 s, the `content_timeout` of"
            " provider-anthropic"
        ),
        "retry, or raise `content_timeout`",
        "LLMTimeoutError",
    ),
    "cut": (
        cut,
        "the answer of `claude-sonnet-5-5` was cut off; no tool call of it was run",
        "retry",
        "StreamError",
    ),
    "unreachable": (
        unreachable,
        "cannot connect to `{url}/v1/messages`: Connection refused",
        "check `ANTHROPIC_BASE_URL` and the network",
        "NetworkError",
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_one_line_with_the_way_out(
    keyed: Any, model: Any, hold: Any, outcome_of: Any, name: str
) -> None:
    set_up, message, hint, kind = FAILURES[name]
    set_up(keyed, model, hold)
    message = message.format(url=keyed.environment["ANTHROPIC_BASE_URL"])

    with ThreadPoolExecutor() as both:
        plain, lines = both.map(lambda options: keyed("hello", *options), [[], ["--json"]])

    assert (plain.returncode, plain.stdout) == (1, "")
    assert plain.stderr == lines.stderr == f"error: {message}; {hint}\n"
    outcome = outcome_of(lines.stdout)
    assert (lines.returncode, outcome["status"], outcome["reason"]) == (1, "error", message)
    assert outcome["error"] == {"type": kind, "message": message, "hint": hint}
    assert outcome["text"] == ("All is well." if name == "cut" else "")


@pytest.mark.parametrize(
    ("arguments", "code", "kind"),
    [
        (["--json", "--jsn", "hello"], 2, "UsageError"),
        (["hello", "--json", "-C", os.devnull], 2, "UsageError"),
        (["--json"], 2, "UsageError"),
        (["--json", "--model", "nope", "hello"], 2, "UsageError"),
        (["--json", "hello"], 1, "ConfigurationError"),
    ],
    ids=["option", "folder", "prompt", "model", "key"],
)
def test_what_keeps_a_turn_from_starting_has_an_outcome(
    command: Any, outcome_of: Any, arguments: list[str], code: int, kind: str
) -> None:
    if code == 1:
        command.environment["ANTHROPIC_API_KEY"] = "no\nkey"
    done = command(*arguments)
    assert done.returncode == code
    outcome = outcome_of(done.stdout)
    assert (outcome["status"], outcome["usage"]) == ("error", None)
    assert outcome["error"]["type"] == kind
    assert done.stderr.endswith(f"error: {outcome['reason']}; {outcome['error']['hint']}\n")


def test_a_model_without_a_key_is_said_and_so_is_an_unknown_one(command: Any) -> None:
    key = (
        "`ANTHROPIC_API_KEY` is not set, which `--model {0}` needs; set it, keep the key in the"
        " system keyring with `amplifier-core provider key set anthropic`, or leave `--model` out to ask"
        " the demo model"
    )
    unknown = "the model `nope` is unknown (a known one is `claude-sonnet-5-5`)"
    done = command("--model", "nope", "hello")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [f"error: {unknown}, and {key.format('nope')}"]

    done = command("--model", "claude-sonnet-4-5", "hello")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [f"error: {key.format('claude-sonnet-4-5')}"]
