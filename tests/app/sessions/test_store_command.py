"""`amplifier-core store migrate` makes the tables of `store-postgres`.

Holds: postgres-3
"""

from __future__ import annotations

import json

import pytest
from postgres_fixture import SERVICE, Database

from amplifier_app.command_line import run_command

pytestmark = pytest.mark.xdist_group("postgres")


def test_the_tables_are_made_once_and_each_run_says_what_it_did(
    postgres: Database,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = f"127.0.0.1:{postgres.server.port}/postgres"
    monkeypatch.setenv("DATABASE_URL", postgres.server.make_dsn())

    assert run_command(["store", "migrate", "--schema", "agents", "--role", SERVICE]) == 0
    assert run_command(["store", "migrate", "--schema", "agents"]) == 0
    assert run_command(["store", "migrate", "--schema", "agents", "--json"]) == 0

    first, role, second, third = capsys.readouterr().out.splitlines()
    assert first == f"schema `agents` in `{place}` is made, with version 1"
    assert role == f"role `{SERVICE}` may use it"
    assert second == f"schema `agents` in `{place}` has version 1 already"
    made = {"place": place, "schema": "agents", "before": 1, "version": 1}
    assert json.loads(third) == {**made, "error": None}


def test_a_database_that_cannot_be_used_is_one_line(
    postgres: Database,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = f"127.0.0.1:{postgres.server.port}/none"
    assert run_command(["store", "migrate", "--dsn", postgres.server.make_dsn("none")]) == 1
    error = f'error: `{place}` refuses the connection: database "none" does not exist\n'
    assert capsys.readouterr().err == error
