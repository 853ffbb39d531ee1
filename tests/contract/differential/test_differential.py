"""The same programs on this package and on amplifier-core 2.0.2, and every difference accounted for.

Needs the reference in an environment of its own: `make differential` sets it up.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from both_sides import AREAS, REFERENCE, generate, run_both
from differing import Difference, differences
from intended import RULES
from unsettled import UNSETTLED

ROOT = Path(__file__).parents[3]
PROGRAMS = generate()
IDS = [program["id"] for program in PROGRAMS]

needs_reference = pytest.mark.skipif(
    not REFERENCE.exists(), reason="no reference to run: `make differential` sets it up"
)
pytestmark = pytest.mark.timeout(600)  # the first program waits for all of them
Sides = tuple[dict[str, Any], dict[str, Any]]


@pytest.fixture(scope="session")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Sides:
    """What the reference and we make of all programs, by their ids."""
    return run_both(PROGRAMS, tmp_path_factory.mktemp("differential"))


def found(program: dict[str, Any], sides: Sides) -> list[Difference]:
    reference, ours = (side.get(program["id"], {"result": "none"}) for side in sides)
    return list(differences(program, reference, ours))


def test_there_are_enough_programs_over_everything() -> None:
    counts = {
        area.__name__.removesuffix("_programs"): sum(
            name.startswith(area.__name__.removesuffix("_programs").rstrip("s")) for name in IDS
        )
        for area in AREAS
    }

    assert len(IDS) == len(set(IDS)) >= 200
    assert all(count >= 20 for count in counts.values()), counts


def test_every_run_has_the_same_programs() -> None:
    assert generate() == PROGRAMS


@needs_reference
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(
            program,
            id=program["id"],
            marks=[pytest.mark.xfail(strict=True, reason=UNSETTLED[program["id"]])]
            if program["id"] in UNSETTLED
            else [],
        )
        for program in PROGRAMS
    ],
)
def test_a_program_differs_only_as_intended(program: dict[str, Any], sides: Sides) -> None:
    ours = sides[1].get(program["id"], {})
    if "missing" in ours:
        pytest.skip(f"`{ours['missing']}` is not there")

    unexpected = [
        difference
        for difference in found(program, sides)
        if not any(rule(difference) for rule in RULES.values())
    ]

    assert not unexpected, "\n".join(map(str, unexpected))


@needs_reference
@pytest.mark.parametrize("name", RULES)
def test_an_intended_difference_is_there(name: str, sides: Sides) -> None:
    rule = RULES[name]

    assert any(rule(difference) for program in PROGRAMS for difference in found(program, sides))


@pytest.mark.parametrize("name", RULES)
def test_an_intended_difference_has_a_row(name: str) -> None:
    source = (Path(__file__).parent / "intended.py").read_text()

    assert re.search(rf"^# Holds: differ-\d+.*\n@intended\ndef {name}\(", source, re.MULTILINE)


def test_a_difference_is_found_at_its_leaf() -> None:
    program = {"id": "p", "steps": [{"do": "emit"}, {"do": "emit"}]}
    same = {"do": "emit", "value": {"a": [1, 2]}, "trace": [], "logs": []}
    reference = {"id": "p", "steps": [same, same]}

    def differing(changed: dict[str, Any]) -> list[tuple[Any, ...]]:
        ours = {"id": "p", "steps": [same, changed]}
        found = differences(program, reference, ours)
        return [(one.index, one.path, one.reference, one.ours) for one in found]

    raises = {"do": "emit", "raises": ["ValueError", "x", None], "trace": [], "logs": []}
    assert differing(same) == []
    assert differing({**same, "value": {"a": [1, 3]}}) == [(1, ("value", "a", 1), 2, 3)]
    assert differing({**same, "value": {"a": [1, 2.0]}}) == [(1, ("value", "a", 1), 2, 2.0)]
    assert differing({**same, "logs": ["ERROR"]}) == [(1, ("logs",), [], ["ERROR"])]
    assert differing(raises) == [(1, ("outcome",), same, raises)]


def test_a_program_that_ends_early_differs() -> None:
    program = {"id": "p", "steps": [{"do": "emit"}]}
    whole = {"id": "p", "steps": [{"do": "emit", "value": 1}]}

    assert list(differences(program, whole, {"id": "p", "ends with": "SystemExit()"}))
    assert list(differences(program, whole, {"id": "p", "steps": []}))
    assert list(differences(program, whole, {"result": "none"}))
