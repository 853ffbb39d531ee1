"""Handing a prompt to the loop, and what is told of the mount plan."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_core import RustCoordinator
from amplifier_core._collect_helper import collect_contributions
from amplifier_core._session_exec import emit_raw_field_if_configured, run_orchestrator
from amplifier_core.utils import SENSITIVE_KEYS, redact_secrets, truncate_values


class Loop:
    """Answers with what it was given."""

    def __init__(self) -> None:
        self.given: dict[str, Any] = {}

    async def execute(self, **given: Any) -> str:
        self.given = given
        return "an answer"


async def test_the_loop_is_given_the_six_parts_by_name():
    coordinator = RustCoordinator()
    loop, context, provider, tool = Loop(), object(), object(), object()
    await coordinator.mount("orchestrator", loop)
    await coordinator.mount("context", context)
    await coordinator.mount("providers", provider, name="p")
    await coordinator.mount("tools", tool, name="t")

    assert await run_orchestrator(coordinator, "hello") == "an answer"
    assert loop.given == {
        "prompt": "hello",
        "context": context,
        "providers": {"p": provider},
        "tools": {"t": tool},
        "hooks": coordinator.hooks,
        "coordinator": coordinator,
    }
    assert loop.given["tools"] is coordinator.get("tools")


async def test_missing_parts_are_empty_and_no_error():
    loop, hooks = Loop(), object()
    coordinator = SimpleNamespace(get={"orchestrator": loop}.get, hooks=hooks)
    await run_orchestrator(coordinator, "hello")
    assert loop.given == {
        "prompt": "hello",
        "context": None,
        "providers": {},
        "tools": {},
        "hooks": hooks,
        "coordinator": coordinator,
    }


# Holds: differ-65
async def test_a_session_without_a_loop_cannot_answer():
    with pytest.raises(RuntimeError, match="No orchestrator module mounted"):
        await run_orchestrator(RustCoordinator(), "hello")


@pytest.mark.parametrize("config", [{}, {"session": None}, {"session": {"raw": False}}])
async def test_the_plan_is_not_told_unasked(config: dict[str, Any]):
    seen: list[Any] = []
    coordinator = RustCoordinator()
    coordinator.hooks.register("session:config", lambda *event: seen.append(event))
    await emit_raw_field_if_configured(coordinator, config, "an id", "session:start")
    assert seen == []


async def test_the_plan_is_told_without_its_secrets():
    seen: list[Any] = []
    coordinator = RustCoordinator()
    coordinator.hooks.register("session:config", lambda *event: seen.append(event))
    coordinator.hooks.register("session:start", lambda *event: seen.append(event))
    config = {"session": {"raw": True}, "providers": [{"config": {"api_key": "sk-1", "n": 1}}]}
    await emit_raw_field_if_configured(coordinator, config, "an id", "session:start")

    [(event, data)] = seen
    del data["timestamp"]
    redacted = {
        "session": {"raw": True},
        "providers": [{"config": {"api_key": "[REDACTED]", "n": 1}}],
    }
    assert (event, data) == ("session:config", {"session_id": "an id", "raw": redacted})
    assert config["providers"] == [{"config": {"api_key": "sk-1", "n": 1}}]


# Holds: differ-104
@pytest.mark.parametrize(
    "key",
    [
        *sorted(SENSITIVE_KEYS),
        "Authorization",
        "access_token",
        "accessToken",
        "client-secret",
        "OPENAI_API_KEY",
        "openai-api-key",
        "x-apikey",
        "DB_PASSWORD",
    ],
)
def test_a_secret_is_known_by_its_key(key: str):
    nested = {"a": [({key: "s3cret"}, {key: {"b": "s3cret"}})]}
    assert redact_secrets(nested) == {"a": [({key: "[REDACTED]"}, {key: "[REDACTED]"})]}


@pytest.mark.parametrize(
    "key", ["max_tokens", "token_count", "author", "keys", 5, None, ("token",)]
)
def test_other_keys_are_left_alone(key: Any):
    assert redact_secrets({key: "plain"}) == {key: "plain"}


def test_the_sensitive_keys_can_be_others():
    data = {"pin": 1, "token": 2, "cardPin": 3}
    assert redact_secrets(data, {"pin"}) == {
        "pin": "[REDACTED]",
        "token": 2,
        "cardPin": "[REDACTED]",
    }


def test_long_texts_are_cut_wherever_they_are():
    assert truncate_values({"a": ["x" * 5, ("y" * 4, 12345)]}, 3) == {
        "a": ["xxx... (truncated 2 chars)", ("yyy... (truncated 1 chars)", 12345)]
    }
    assert truncate_values("x" * 180) == "x" * 180
    assert truncate_values("x" * 181) == "x" * 180 + "... (truncated 1 chars)"


def contributor(name: str, callback: Any) -> dict[str, Any]:
    return {"name": name, "callback": callback}


def failing(error: BaseException) -> Any:
    def call() -> Any:
        raise error

    return call


async def test_contributions_come_in_order_and_failures_are_left_out(
    caplog: pytest.LogCaptureFixture,
):
    async def later() -> str:
        return "second"

    channels = {
        "events": [
            contributor("a", lambda: "first"),
            contributor("b", failing(KeyError("bad"))),
            contributor("c", later),
            contributor("d", lambda: None),
            contributor("e", lambda: later()),
            contributor("f", "no function"),
            contributor("g", list),
        ]
    }
    assert await collect_contributions(channels, "events") == ["first", "second", "second", []]
    assert await collect_contributions(channels, "unknown") == []
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert "contributor `b` to `events` failed" in caplog.text


async def test_a_cancelled_contributor_ends_the_round_with_what_is_there():
    channels = {
        "events": [
            contributor("a", lambda: "first"),
            contributor("b", failing(asyncio.CancelledError())),
            contributor("c", lambda: "never"),
        ]
    }
    assert await collect_contributions(channels, "events") == ["first"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
async def test_the_end_of_the_program_is_not_kept_back(error: BaseException):
    channels = {"events": [contributor("a", failing(error))]}
    with pytest.raises(type(error)):
        await collect_contributions(channels, "events")


# Holds: differ-44
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_cancellation_of_the_one_who_asks_is_not_kept_back(anyio_backend: str):
    started = asyncio.Event()

    async def wait() -> None:
        started.set()
        await asyncio.Event().wait()

    asking = asyncio.create_task(
        collect_contributions({"events": [contributor("a", wait)]}, "events")
    )
    await started.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
