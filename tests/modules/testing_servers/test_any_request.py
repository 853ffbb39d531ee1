"""Whatever a request holds, a judge says yes or no, and never breaks."""

from __future__ import annotations

import copy
import importlib.util
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_testing.servers import (
    AnthropicServer,
    ChatServer,
    OllamaServer,
    Refusal,
    ResponsesServer,
)

Judge = Callable[[dict[str, Any]], Refusal | None]

JUDGES: dict[str, Judge] = {
    "anthropic": AnthropicServer(secret=b"tests").judge,
    "responses": ResponsesServer(secret=b"tests").judge,
    "chat": ChatServer(secret=b"tests").judge,
    "ollama": OllamaServer().judge,
}
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["text", "function", "message", "user", "assistant", "tool_use", "object"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=5)
            | st.sampled_from(["type", "id", "name", "content", "role", "text", "input"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=6,
)


@cache
def bodies(dialect: str) -> list[dict[str, Any]]:
    """The accepted requests of the tables of rules."""
    place = Path(__file__).with_name(f"test_{dialect}_rules.py")
    spec = importlib.util.spec_from_file_location(f"rules_of_{dialect}", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [row.values[0] for row in module.CASES]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every key or index of a body, with what holds it."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(entries):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        yield value, key
        if isinstance(inner, dict | list):
            yield from places(inner)


@pytest.mark.parametrize("dialect", JUDGES)
@given(data=st.data())
@settings(max_examples=3 * settings().max_examples)
def test_a_judge_never_breaks(dialect: str, data: st.DataObject) -> None:
    body = copy.deepcopy(data.draw(st.sampled_from(bodies(dialect))))
    for _ in range(data.draw(st.integers(1, 3))):
        holder, key = data.draw(st.sampled_from(list(places(body))))
        if data.draw(st.booleans()) and isinstance(holder, dict):
            holder.pop(key, None)
            holder[data.draw(st.text(max_size=5))] = data.draw(VALUES)
        elif isinstance(holder, list) and data.draw(st.booleans()):
            holder.insert(key, data.draw(VALUES))
        elif key in holder if isinstance(holder, dict) else key < len(holder):
            holder[key] = data.draw(VALUES)
    before = copy.deepcopy(body)

    refusal = JUDGES[dialect](body)

    assert refusal is None or (400 <= refusal.status < 500 and refusal.message)
    assert repr(body) == repr(before)
