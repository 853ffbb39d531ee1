"""Limits are read from code, configuration and environment, alike in Rust and Python."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from amplifier_guard import GuardError, LimitError, Limits


def test_the_defaults_are_those_of_the_engine() -> None:
    assert Limits.load(environ={}) == Limits()
    assert Limits().model_dump() == {
        "message_max_chars": 50_000,
        "tool_timeout": 120.0,
        "max_content_blocks": 1_000,
        "thinking_mode_enabled": True,
        "name_max_chars": 100,
    }


# Holds: input-4
def test_code_is_over_configuration_and_that_over_the_environment() -> None:
    environ = {"MESSAGE_MAX_CHARS": "1", "TOOL_TIMEOUT": "1.5", "MAX_CONTENT_BLOCKS": "1"}
    configuration = {"tool_timeout": 2, "MAX_CONTENT_BLOCKS": 2, "name_max_chars": None}

    limits = Limits.load(configuration, environ, max_content_blocks=3, thinking_mode_enabled=None)

    assert limits == Limits(message_max_chars=1, tool_timeout=2, max_content_blocks=3)


def test_the_environment_is_that_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKING_MODE_ENABLED", "off")
    assert not Limits.load().thinking_mode_enabled
    assert Limits.load(environ={}).thinking_mode_enabled


@pytest.mark.parametrize(
    ("configuration", "environ", "said"),
    [
        ({"tool_timeout": "soon"}, {}, 'limit `tool_timeout` in the configuration must be seconds above 0, at most 604800, found "soon"'),
        ({"tool_timeout": object()}, {}, "limits must be a mapping from names to values: a value of type `object` is not JSON"),
        ({"tool_timeout": float("inf")}, {}, "limit `tool_timeout` in the configuration must be seconds above 0, at most 604800, found `null`"),
        ({}, {"MESSAGE_MAX_CHARS": "\udcff"}, 'limit `message_max_chars` in the environment must be a whole number from 1 to 1000000000, found "?"'),
        ({"timeout": 1}, {}, "unknown limit `timeout` in the configuration (known: message_max_chars, tool_timeout, max_content_blocks, thinking_mode_enabled, name_max_chars)"),
    ],
)  # fmt: skip
def test_a_value_that_is_no_limit_is_named(
    configuration: dict[str, Any], environ: dict[str, str], said: str
) -> None:
    with pytest.raises(LimitError) as refusal:
        Limits.load(configuration, environ)
    assert str(refusal.value) == said
    assert isinstance(refusal.value, GuardError | ValueError)


def test_limits_stay_as_they_are() -> None:
    with pytest.raises(ValidationError):
        Limits().tool_timeout = 1
    with pytest.raises(ValidationError):
        Limits(message_max_chars=0)


# Holds: input-5
@given(
    st.builds(
        Limits,
        message_max_chars=st.integers(1, 10**9),
        tool_timeout=st.floats(0, 604_800, exclude_min=True),
        max_content_blocks=st.integers(1, 10**9),
        thinking_mode_enabled=st.booleans(),
        name_max_chars=st.integers(1, 10**9),
    )
)
def test_both_sides_read_the_same_limits(limits: Limits) -> None:
    assert Limits.load(limits.model_dump(), {}) == limits
    environ = {name.upper(): str(value) for name, value in limits.model_dump().items()}
    assert Limits.load(environ=environ) == limits
