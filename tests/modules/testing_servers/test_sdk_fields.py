"""The tables of fields are those of the installed SDKs."""

from __future__ import annotations

import pytest
from write_sdk_fields import COMMAND, DIALECTS, SERVERS, write_tables


# Holds: provider-31
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_tables_are_those_of_the_installed_sdk(dialect: str) -> None:
    table = SERVERS / dialect / "sdk_fields.json"

    assert table.read_text() == write_tables(dialect), f"run `{COMMAND}` to write `{table.name}`"
