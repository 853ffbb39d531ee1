"""One id for the events of a call to a model."""

from __future__ import annotations

import contextvars
from collections.abc import Iterator
from uuid import UUID

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.correlation import (
    INTERIM_EVENTS,
    REQUEST_EVENTS,
    REQUEST_ID_FIELD,
    TERMINAL_EVENTS,
    current_request_id,
    new_request_id,
    reset_request_id,
    resolve_request_id,
)


@pytest.fixture(autouse=True)
def no_open_call() -> Iterator[None]:
    reset_request_id()
    yield
    reset_request_id()


def test_the_events_of_a_call():
    assert REQUEST_ID_FIELD == "request_id"
    assert frozenset({"llm:request"}) == REQUEST_EVENTS
    assert frozenset({"provider:retry", "provider:throttle"}) == INTERIM_EVENTS
    assert frozenset({"llm:response", "provider:error"}) == TERMINAL_EVENTS


def test_an_id_is_a_random_uuid():
    first, second = new_request_id(), new_request_id()
    assert UUID(first).version == 4
    assert first != second


def test_a_call_has_one_id_from_request_to_response():
    request = resolve_request_id("llm:request")
    assert request is not None
    events = ["provider:retry", "provider:throttle", "llm:response", "llm:response"]
    assert [resolve_request_id(event) for event in events] == [request, request, request, None]


def test_an_error_ends_a_call():
    request = resolve_request_id("llm:request")
    assert resolve_request_id("provider:error") == request
    assert current_request_id() is None


def test_an_explicit_id_opens_a_call_or_replaces_it():
    assert resolve_request_id("llm:request", "mine") == "mine"
    assert resolve_request_id("provider:retry", "other") == "other"
    assert resolve_request_id("llm:response", "third") == "third"
    assert current_request_id() is None


def test_an_empty_id_is_none():
    request = resolve_request_id("llm:request", "")
    assert request
    assert current_request_id() == request


def test_a_new_request_replaces_an_open_one():
    first = resolve_request_id("llm:request")
    assert resolve_request_id("llm:request") != first


@given(st.text())
def test_other_events_have_no_id_and_leave_the_call_open(event: str):
    reset_request_id()
    request = resolve_request_id("llm:request")
    if event not in REQUEST_EVENTS | INTERIM_EVENTS | TERMINAL_EVENTS:
        assert resolve_request_id(event, "explicit") is None
    assert current_request_id() == request


async def test_tasks_side_by_side_keep_their_calls_apart():
    seen: dict[str, list[str | None]] = {}

    async def call(name: str) -> None:
        resolve_request_id("llm:request", name)
        await anyio.lowlevel.checkpoint()
        seen[name] = [resolve_request_id("provider:retry"), resolve_request_id("llm:response")]

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call, "one")
        tasks.start_soon(call, "two")
    assert seen == {"one": ["one", "one"], "two": ["two", "two"]}
    assert current_request_id() is None


def test_a_copied_context_closes_only_its_own_call():
    request = resolve_request_id("llm:request")
    assert contextvars.copy_context().run(resolve_request_id, "llm:response") == request
    assert current_request_id() == request
