"""What a program says about its options is compared with its table.

An option fails here if neither the table nor `left_out.txt` has it. So a newer version of a program may
fail on one machine alone, and what an older version has no longer is not seen: that is accepted, because
what is in neither asks a person anyway.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from shell_help import HELP, options_of
from shell_tables import Table, read_tables

LEFT_OUT = Path(__file__).parents[1] / "data/security/left_out.txt"


def table_of(command: str) -> Table:
    name, *words = command.split()
    table = read_tables()[name if name in read_tables() else name.rstrip("0123456789")]
    for word in words:
        table = table.commands[word]
    return table


def left_out() -> dict[str, list[str]]:
    """The options that are left out on purpose, by command."""
    found: dict[str, list[str]] = {}
    for line in LEFT_OUT.read_text().splitlines():
        if line and not line.startswith("#"):
            place, options = line.split(": ")
            command, reason = place.split(" / ")
            assert reason
            found.setdefault(command, []).extend(options.split())
    return found


@pytest.mark.parametrize("command", HELP)
def test_each_option_of_a_program_is_in_its_table_or_left_out_on_purpose(command: str) -> None:
    if shutil.which(command.split()[0]) is None:
        pytest.skip(f"`{command.split()[0]}` is not installed")
    table = table_of(command)
    known = {*table.options, *table.commands, *left_out().get(command, [])}
    assert [option for option in options_of(command) if option not in known] == []


@pytest.mark.parametrize("command", HELP)
def test_an_option_that_needs_a_value_has_one_in_the_table(command: str) -> None:
    if shutil.which(command.split()[0]) is None:
        pytest.skip(f"`{command.split()[0]}` is not installed")
    table = table_of(command)
    without = [
        option
        for option, has_value in options_of(command).items()
        if has_value and option.startswith("--") and option in table.options
        if not table.options[option].kinds
    ]
    assert without == []


def test_nothing_is_both_left_out_and_in_a_table() -> None:
    both = {
        command: found
        for command, options in left_out().items()
        if (found := [option for option in options if option in table_of(command).options])
    }
    assert both == {}
