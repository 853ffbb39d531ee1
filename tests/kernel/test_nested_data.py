"""Nested data is copied for logs, and shown in errors, however deep it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from amplifier_core import MockTool, ModuleLoader, RetryConfig
from amplifier_core._engine import ProviderError, classify_error_message, compute_delay
from amplifier_core.error_messages import short_repr
from amplifier_core.utils import redact_secrets, truncate_values
from amplifier_core.validation.proto_schema import validate_hook_result

DEPTH = 50_000

texts = some.text(max_size=6)
nested = some.recursive(
    texts | some.integers() | some.none(),
    lambda inner: (
        some.lists(inner, max_size=3)
        | some.lists(inner, max_size=3).map(tuple)
        | some.dictionaries(texts | some.just("token"), inner, max_size=3)
    ),
)


def deep(inner: Any) -> Any:
    """A value within dicts, lists and tuples by turns."""
    for level in range(DEPTH):
        inner = ({"a": inner}, [inner], (inner,))[level % 3]
    return inner


def innermost(value: Any) -> tuple[Any, list[type]]:
    """What is within, and the types of what it is in."""
    kinds: list[type] = []
    while isinstance(value, dict | list | tuple) and value and "here" not in value:
        kinds.append(type(value))
        value = value["a"] if isinstance(value, dict) else value[0]
    return value, kinds


# Holds: differ-105
def test_deep_data_is_redacted_and_cut():
    data = deep({"here": 1, "api_key": "x", "text": "a" * 9})

    redacted, kinds = innermost(redact_secrets(data))
    cut, _ = innermost(truncate_values(data, 4))

    assert redacted == {"here": 1, "api_key": "[REDACTED]", "text": "a" * 9}
    assert cut == {"here": 1, "api_key": "x", "text": "aaaa... (truncated 5 chars)"}
    assert kinds == innermost(data)[1]
    assert len(kinds) == DEPTH


@given(nested)
def test_what_has_no_secret_and_is_short_is_copied_as_it_is(data: Any):
    copy = truncate_values(data, 6)

    assert repr(copy) == repr(data)
    assert not isinstance(data, dict | list) or copy is not data


@given(nested)
def test_a_secret_is_hidden_wherever_it_is(data: Any):
    def by_definition(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: "[REDACTED]" if key == "token" else by_definition(inner)
                for key, inner in value.items()
            }
        if isinstance(value, list | tuple):
            return type(value)(map(by_definition, value))
        return value

    assert redact_secrets(data, {"token"}) == by_definition(data)


@pytest.mark.parametrize("function", [redact_secrets, truncate_values])
def test_what_comes_twice_is_copied_twice_and_what_contains_itself_is_refused(function: Any):
    shared = ["a"]
    assert function({"x": shared, "y": (shared, shared)}) == {"x": ["a"], "y": (["a"], ["a"])}

    circular: dict[str, Any] = {"list": []}
    circular["list"].append(circular)
    with pytest.raises(ValueError, match="contains itself"):
        function(circular)


# Holds: differ-106
async def test_errors_show_deep_values_without_failing():
    value = deep("x")
    with pytest.raises(ValueError, match=r"Module '.{1,300}' not found"):
        await ModuleLoader().load(value)
    for refused in (
        lambda: RetryConfig(max_retries=value),
        lambda: RetryConfig(initial_delay=value),
        lambda: RetryConfig(honor_retry_after=value),
        lambda: compute_delay(RetryConfig(), value),
        lambda: classify_error_message(value),
        lambda: ProviderError("m", provider=value),
    ):
        with pytest.raises(TypeError, match="must be"):
            refused()
    with pytest.warns(UserWarning, match="`jitter` must be a `bool`"):
        RetryConfig(jitter=value)
    assert len(MockTool(value).description) < 300
    assert len(validate_hook_result({"action": value})[0]) < 300


def test_a_short_value_is_shown_as_it_is_and_a_foreign_one_by_its_type_at_least():
    class Foreign:
        def __repr__(self) -> str:
            raise KeyError("no")

    class Strange(dict[str, int]):
        def __len__(self) -> int:
            raise KeyError("no")

    assert [short_repr(value) for value in ("a", 5, None, [1, ("b",)], {"k": 1.5})] == [
        "'a'",
        "5",
        "None",
        "[1, ('b',)]",
        "{'k': 1.5}",
    ]
    assert len(short_repr("a" * 10_000)) <= 200
    assert len(short_repr(list(range(10_000)))) < 200
    assert short_repr(Foreign()).startswith("<Foreign")
    assert short_repr(Strange()).startswith("<Strange") or short_repr(Strange()) == "{}"
