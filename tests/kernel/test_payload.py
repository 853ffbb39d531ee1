"""Event data: what handlers get is JSON-shaped and their own; the caller's objects stay the caller's."""

from __future__ import annotations

import asyncio
import copy
import json
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from pathlib import PurePosixPath
from typing import Any
from unittest.mock import MagicMock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from amplifier_core.models import HookResult


class Color(Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


class Name(StrEnum):
    FIRST = "first"


class Model(BaseModel):
    when: datetime
    items: list[Any] = []


@dataclass
class Point:
    x: int
    tags: tuple[str, ...] = ()
    inner: Model | None = None
    kept: dict[Any, Any] = field(default_factory=dict)


class Odd:
    def __str__(self) -> str:
        raise RuntimeError("no text")


def handed_out(engine, data: Any) -> Any:
    """What a handler gets for this data, without its time stamp."""
    seen: list[Any] = []
    hooks = engine.HookRegistry()
    hooks.register("e", lambda _, payload: seen.append(payload))
    asyncio.run(hooks.emit("e", data))
    (payload,) = seen
    if isinstance(payload, dict):
        payload.pop("timestamp", None)
    return payload


WHEN = datetime(2026, 1, 2, tzinfo=UTC)


# Holds: differ-10, differ-11
@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ((1, [2, (3,)]), [1, [2, [3]]]),
        ({"x"}, ["x"]),
        (frozenset({1}), [1]),
        (
            {5: "i", True: "b", None: "n", 1.5: "f"},
            {"5": "i", "true": "b", "null": "n", "1.5": "f"},
        ),
        ({float("nan"): 1, float("-inf"): 2}, {"NaN": 1, "-Infinity": 2}),
        ({Level.HIGH: 1, Name.FIRST: 2}, {"3": 1, "first": 2}),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (Color.RED, "red"),
        (Level.HIGH, 3),
        (Name.FIRST, "first"),
        (Decimal("1.50"), "1.50"),
        (WHEN, "2026-01-02 00:00:00+00:00"),
        (PurePosixPath("/a"), "/a"),
        (b"x", "b'x'"),
        (10**40, 10**40),
        (float("inf"), float("inf")),
        ("\ud800", "\ud800"),
        (Odd(), "Odd"),
        (Model(when=WHEN, items=[1]), {"when": "2026-01-02T00:00:00Z", "items": [1]}),
        (
            Point(1, ("t",), Model(when=WHEN), {1: {2}}),
            {
                "x": 1,
                "tags": ["t"],
                "inner": {"when": "2026-01-02T00:00:00Z", "items": []},
                "kept": {"1": [2]},
            },
        ),
    ],
)
def test_values_take_their_json_form_natively(engine, value, shape):
    assert handed_out(engine, {"value": value}) == {"value": shape}
    assert type(handed_out(engine, {"value": value})["value"]) is type(shape)


def test_a_mock_is_no_model(engine):
    assert handed_out(engine, {"value": MagicMock(name="tool")})["value"].startswith(
        "<MagicMock name="
    )


def test_a_model_that_cannot_be_dumped_yields_the_name_of_its_type(engine):
    class Broken(BaseModel):
        def model_dump(self, **_: Any) -> dict[str, Any]:
            raise RuntimeError("broken")

    assert handed_out(engine, {"value": Broken()}) == {"value": "Broken"}


def test_an_object_that_answers_nothing_is_told_by_its_type(engine):
    class Hostile:
        def __getattribute__(self, name: str) -> Any:
            raise RuntimeError("nothing to see")

        __str__ = __getattribute__

    assert handed_out(engine, {"value": Hostile()}) == {"value": "Hostile"}
    assert handed_out(engine, Hostile()) == "Hostile"


def test_top_level_models_and_anything_with_model_dump_stand_for_their_fields(engine):
    class Dumps:
        def model_dump(self) -> dict[str, Any]:
            return {"k": (1,)}

    assert handed_out(engine, Dumps()) == {"k": [1]}
    assert handed_out(engine, Model(when=WHEN)) == {"when": "2026-01-02T00:00:00Z", "items": []}


@pytest.mark.parametrize("make", [list, dict])
def test_data_that_contains_itself_is_refused(engine, make):
    cycle = make()
    cycle.append([cycle]) if make is list else cycle.update(k=[cycle])
    hooks = engine.HookRegistry()
    hooks.register("e", print)

    with pytest.raises(ValueError, match="circular reference"):
        hooks.emit("e", {"value": cycle})


def test_keys_that_json_does_not_know_are_refused(engine):
    hooks = engine.HookRegistry()
    hooks.register("e", print)

    with pytest.raises(TypeError, match="not `tuple`"):
        hooks.emit("e", {"value": {(1, 2): 3}})


def test_depth_is_limited_without_an_error(engine):
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    level = handed_out(engine, {"value": deep})["value"]
    depth = 0
    while isinstance(level, list):
        level, depth = level[0], depth + 1
    assert (level, depth) == ("list", 199)


def test_the_same_value_twice_is_no_cycle(engine):
    shared = [1]
    assert handed_out(engine, {"a": shared, "b": [shared, shared]}) == {"a": [1], "b": [[1], [1]]}


async def test_a_handler_may_change_its_copy_without_anyone_noticing(engine):
    hooks, seen = engine.HookRegistry(), []
    data = {"nested": {"list": [1, {"deep": True}]}, "flat": 1}
    before = copy.deepcopy(data)

    def destroys(event: str, payload: dict[str, Any]) -> None:
        payload["nested"]["list"][1].clear()
        payload["nested"]["list"].append("mine")
        payload.clear()

    hooks.register("e", destroys)
    hooks.register("e", lambda _, payload: seen.append(payload))
    result = await hooks.emit("e", data)

    assert data == before
    assert {key: seen[0][key] for key in before} == before
    assert result.data["nested"] is data["nested"]


# Holds: differ-13
async def test_after_a_modification_unchanged_values_are_the_callers_own(engine):
    hooks = engine.HookRegistry()
    kept, changed = {"value": (1, 2)}, {"value": 1}

    def modifies(event: str, payload: dict[str, Any]) -> HookResult:
        payload["changed"]["value"] = 2
        payload["added"] = [1]
        return HookResult(action="modify", data=payload)

    hooks.register("e", modifies)
    hooks.register("e", lambda *_: None)
    result = await hooks.emit("e", {"kept": kept, "changed": changed})

    assert result.data["kept"] is kept
    assert result.data["changed"] == {"value": 2}
    assert changed == {"value": 1}
    assert result.data["added"] == [1]


async def test_a_modification_with_circular_data_denies(engine, caplog):
    hooks = engine.HookRegistry()
    cycle: dict[str, Any] = {}
    cycle["self"] = cycle
    hooks.register("e", lambda *_: HookResult.model_construct(action="modify", data={"c": cycle}))

    # An answer without all its fields is understood where the missing ones do not count.
    result = await hooks.emit("e", {})

    assert (result.action, result.reason) == ("deny", "Hook handler returned invalid response")
    assert len(caplog.records) == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


# Holds: differ-12
@given(st.dictionaries(st.text(), JSON))
def test_json_shaped_data_arrives_equal_in_the_same_order_and_shares_nothing(engine, data):
    data.pop("timestamp", None)
    payload = handed_out(engine, data)

    assert repr(payload) == repr(data)

    def containers(value: Any) -> set[int]:
        inner = (
            value.values()
            if isinstance(value, dict)
            else value
            if isinstance(value, list)
            else None
        )
        if inner is None:
            return set()
        return {id(value)}.union(*map(containers, inner))

    assert containers(payload).isdisjoint(containers(data))


KEYS = st.text() | st.integers() | st.booleans() | st.none() | st.floats()


@given(st.recursive(st.integers(), lambda inner: st.dictionaries(KEYS, inner) | st.tuples(inner)))
def test_keys_and_tuples_become_what_json_makes_of_them(engine, value):
    assert handed_out(engine, {"value": value})["value"] == json.loads(json.dumps(value))


@pytest.mark.parametrize(
    ("before", "after"),
    [(0, False), (1, True), (1, 1.0), (False, 0), ([0], [False]), ({"n": [1]}, {"n": [1.0]})],
)
async def test_a_value_that_is_equal_but_other_json_is_changed(engine, before, after):
    hooks = engine.HookRegistry()
    hooks.register("e", lambda *_: HookResult(action="modify", data={"k": after}))

    result = await hooks.emit("e", {"k": before})

    assert repr(result.data) == repr({"k": after})
