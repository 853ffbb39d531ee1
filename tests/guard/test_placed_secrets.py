"""Secrets without a mark of their own are known by their place, and benign text stays as it is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from placed_secrets import CONTEXTS, Placed, placed, templates

from amplifier_guard import Redactor

MOST_LEAKS = 48
"""Of the 300 secrets, 16 in a hundred."""
BENIGN = templates("benign")
SEEDS = (0, 1, 2)


def streamed(text: str, step: int) -> str:
    stream = Redactor().stream()
    chunks = [text[start : start + step] for start in range(0, len(text), step)]
    return "".join(map(stream.feed, chunks)) + stream.flush()


# Holds: secret-4
@pytest.mark.parametrize("seed", SEEDS)
def test_few_of_300_secrets_in_ten_contexts_leak(seed: int) -> None:
    rows = placed(seed)
    redactor = Redactor()
    leaks = [row for row in rows if row.is_leaked_by(redactor.redact(row.text))]

    assert {row.context for row in rows} == set(CONTEXTS)
    assert len(rows) == 300
    assert all(row.is_leaked_by(row.text) for row in rows)
    assert len(leaks) <= MOST_LEAKS, "\n\n".join(row.text for row in leaks)


# Holds: secret-4
@pytest.mark.parametrize("step", [1, 13])
def test_a_stream_gives_of_each_of_them_what_the_whole_text_gives(step: int) -> None:
    redactor = Redactor()
    whole = {row.text: redactor.redact(row.text) for row in placed(0)}

    assert {text: streamed(text, step) for text in whole} == whole


# Holds: secret-4
def test_what_only_looks_like_a_placed_secret_stays() -> None:
    redactor = Redactor()

    assert [redactor.redact(text) for text in BENIGN] == BENIGN
    assert [streamed(text, 5) for text in BENIGN] == BENIGN


def test_what_was_redacted_by_its_place_stays() -> None:
    redactor = Redactor()
    once = [redactor.redact(row.text) for row in placed(0)]

    assert [redactor.redact(text) for text in once] == once


def as_data(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


DATA = [row for row in placed(0) if isinstance(as_data(row.text), dict) and row.context != "column"]


@pytest.mark.parametrize("row", DATA, ids=lambda row: f"{row.context}-{row.place}")
def test_data_is_redacted_as_its_json_is(row: Placed) -> None:
    redactor = Redactor()
    from_data = json.dumps(redactor.redact_data(as_data(row.text)))

    assert row.is_leaked_by(from_data) == row.is_leaked_by(redactor.redact(row.text))


def test_data_is_redacted_in_a_mapping_that_is_named_as_secret() -> None:
    value, uuid = "harbor1815tiger", "0b7e9c2a-4d1f-4c3b-9a57-1f0e6d2c8b34"
    shared = {"value": value}
    data = {
        "credentials": {"db": {"value": value, "user": "ada", "port": 5432}},
        "passwords": {"ada": ["mistyharbor"], "bob": "mistyharbor"},
        "session": {"id": uuid, "trace": uuid, "shared": shared},
        "token": {"id": uuid, "name": "ci", "type": "bearer", "value": uuid},
        "shared": shared,
        "properties": {"password": {"type": "string", "title": "Password"}},
    }

    assert Redactor().redact_data(data) == {
        "credentials": {"db": {"value": "[REDACTED:credentials]", "user": "ada", "port": 5432}},
        "passwords": {"ada": ["[REDACTED:password]"], "bob": "[REDACTED:password]"},
        "session": {"id": uuid, "trace": uuid, "shared": {"value": "[REDACTED:token]"}},
        "token": {"id": uuid, "name": "ci", "type": "bearer", "value": "[REDACTED:token]"},
        "shared": shared,
        "properties": {"password": {"type": "string", "title": "Password"}},
    }
