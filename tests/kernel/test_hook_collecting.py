"""What `emit_and_collect` takes from the answers of handlers."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel

from amplifier_core.models import HookResult


class Usage(BaseModel):
    tokens: int = 3


@dataclass
class Place:
    line: int = 7


class OwnResult(BaseModel):
    """A result of somebody's own making."""

    action: str = "continue"
    data: dict[str, Any] | None = None


@pytest.mark.parametrize(
    "answer",
    [
        {"action": "explode", "data": {"k": 1}},
        {"reason": 5, "data": {"k": 1}},
        {"data": [1]},
        {"data": {("a", 1): 2}},
        "text",
        5,
        False,
        [],
        object(),
        OwnResult(action="explode", data={"k": 1}),
        HookResult().model_copy(update={"data": 5}),
        HookResult.model_construct(action="explode", data={"k": 1}),
        {"data": {"k": {("a", 1): 2}}},
    ],
)
@pytest.mark.parametrize("is_async", [True, False])
async def test_an_answer_that_cannot_be_read_is_logged_and_left_out(
    engine, caplog, answer, is_async
):
    hooks = engine.HookRegistry()

    async def later(*_: Any) -> Any:
        return answer

    hooks.register("e", later if is_async else lambda *_: answer, name="odd")
    hooks.register("e", lambda *_: HookResult(data={"n": 1}))

    with caplog.at_level(logging.WARNING, "amplifier_core.hooks"):
        assert await hooks.emit_and_collect("e", {}) == [{"n": 1}]

    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("ERROR", "hook `odd` failed on `e`; continuing without its answer")
    ]


async def test_collected_data_is_plain_and_the_callers_own(engine):
    hooks = engine.HookRegistry()
    kept: dict[str, Any] = {"nested": {"n": [1]}}
    odd = {"usage": Usage(), "place": Place(), "day": date(2026, 1, 2), "cost": Decimal("1.50")}
    hooks.register("e", lambda *_: HookResult(data=kept))
    hooks.register("e", lambda *_: {"data": odd})
    hooks.register("e", lambda *_: OwnResult(data={"mine": 1}))

    collected = await hooks.emit_and_collect("e", {})
    collected[0]["nested"]["n"].append(2)

    assert kept == {"nested": {"n": [1]}}
    assert json.loads(json.dumps(collected[1:])) == [
        {"usage": {"tokens": 3}, "place": {"line": 7}, "day": "2026-01-02", "cost": "1.50"},
        {"mine": 1},
    ]


async def test_times_have_the_form_of_models_in_a_result_and_of_events_in_a_dict(engine):
    hooks, data = engine.HookRegistry(), {"at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)}
    hooks.register("e", lambda *_: HookResult(data=data))
    hooks.register("e", lambda *_: {"data": data})

    collected = await hooks.emit_and_collect("e", {})
    assert collected == [{"at": "2026-01-02T03:04:05Z"}, {"at": "2026-01-02 03:04:05+00:00"}]


async def test_a_model_with_the_fields_of_a_result_is_an_answer(engine):
    hooks = engine.HookRegistry()
    hooks.register("e", lambda *_: OwnResult(action="modify", data={"k": 2}))
    assert (await hooks.emit("e", {"k": 1})).data == {"k": 2}

    hooks.register("e", lambda *_: OwnResult(action="deny"))
    assert (await hooks.emit("e", {"k": 1})).action == "deny"


async def test_emit_and_collect_gathers_the_data_of_all_answers(engine):
    hooks, seen = engine.HookRegistry(), []

    async def denies(*call: Any) -> HookResult:
        seen.append(call)
        return HookResult(action="deny", data={"n": 1})

    hooks.register("e", denies)
    hooks.register("e", lambda *_: {"action": "modify", "data": {"n": 2}})
    hooks.register("e", lambda *call: seen.append(call) or HookResult())
    hooks.register("e", lambda *call: seen.append(call))

    assert await hooks.emit_and_collect("e", {"k": 1}) == [{"n": 1}, {"n": 2}]
    assert seen == [("e", {"k": 1})] * 3


async def test_a_handler_over_its_time_is_cancelled_and_left_out(engine, caplog):
    import anyio

    hooks, seen = engine.HookRegistry(), []

    async def hangs(event: str, data: dict[str, Any]) -> HookResult:
        try:
            await anyio.sleep_forever()
        finally:
            seen.append("cancelled")
        return HookResult(data={"never": True})

    hooks.register("e", hangs, name="hangs")
    hooks.register("e", lambda *_: HookResult(data={"n": 1}))

    assert await hooks.emit_and_collect("e", {}, timeout=0) == [{"n": 1}]
    assert seen == ["cancelled"]
    assert "`hangs` timed out" in caplog.text


# Holds: differ-26
@pytest.mark.parametrize("limit", [None, 5, float("inf")])
async def test_a_timeout_of_none_or_infinity_waits(engine, limit):
    hooks = engine.HookRegistry()
    hooks.register("e", lambda *_: HookResult(data={"n": 1}))

    assert await hooks.emit_and_collect("e", {}, timeout=limit) == [{"n": 1}]


# Holds: differ-27
@pytest.mark.parametrize(
    ("timeout", "error"), [(-1, ValueError), (float("nan"), ValueError), ("1", TypeError)]
)
def test_a_bad_timeout_is_refused(engine, timeout, error):
    with pytest.raises(error, match="`timeout` must be"):
        engine.HookRegistry().emit_and_collect("e", {}, timeout=timeout)
