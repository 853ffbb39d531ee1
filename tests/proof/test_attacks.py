"""Hundreds of commands try to have an effect outside of their project, or to read secrets.

Each is run without a sandbox first, where it succeeds, and then in each kind of sandbox, as root and as
an ordinary user: the tiers, the namespaces of the system's bubblewrap, and layers, whose changes get
into the project at the end. `attacks/expected.txt` has those that a kind does not hold, and why.

Holds: sandbox-70
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("amplifier_core._engine")
sys.path.insert(0, str(Path(__file__).parent / "attacks"))

from harness import LAYERS, clean_up, read_attacks, read_expected, run_attacks
from outside import find_failure
from users import User, find_user

from amplifier_modules.sandbox.command import Tier

ATTACKS = read_attacks()
LEAST = 700
KINDS = (Tier.NAMESPACES, Tier.LANDLOCK, "bubblewrap", LAYERS)
SECONDS = 1_800

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is one of Linux"),
    pytest.mark.skipif(
        os.uname().machine != "x86_64", reason="the attacks have system calls of x86-64"
    ),
    pytest.mark.timeout(SECONDS),
]


@pytest.fixture(scope="module", autouse=True)
def _clean_up() -> Iterator[None]:
    yield
    clean_up()


@pytest.fixture(params=["root", "user"])
def user(request: pytest.FixtureRequest) -> User:
    found = find_user(request.param)
    if found is None:
        pytest.skip(f"this process cannot become `{request.param}` with these files")
    return found


# Holds: sandbox-71
def test_attacks_succeed_without_a_sandbox(user: User) -> None:
    attacks = [attack for attack in ATTACKS.values() if not attack.harmful]
    results = run_attacks(attacks, "unconfined", user, lambda _: True)
    held = [
        result.attack.name
        for result in results
        if not result.is_proved
        if not result.attack.blocked and result.attack.succeeds_as(user.name)
    ]
    assert held == []


# Holds: sandbox-72, sandbox-73, sandbox-74
@pytest.mark.parametrize("kind", KINDS)
def test_only_what_is_expected_has_an_effect_in_a_sandbox(kind: str, user: User) -> None:
    if failure := find_failure(kind, user):
        # Whether there are layers depends on the file system, too.
        must_run = os.environ.get("CI") and kind in (Tier.NAMESPACES, Tier.LANDLOCK)
        (pytest.fail if must_run else pytest.skip)(failure)
    expected = read_expected().get((kind, user.name), {})
    results = run_attacks(ATTACKS.values(), kind, user, lambda attack: attack.name in expected)
    effective = {result.attack.name: result.effects for result in results if result.effects}
    ran = {result.attack.name for result in results}

    assert {name: effects for name, effects in effective.items() if name not in expected} == {}
    assert [name for name in expected if name in ran and name not in effective] == []


def test_every_attack_that_is_expected_to_succeed_is_there() -> None:
    assert len(ATTACKS) >= LEAST
    assert {name for pinned in read_expected().values() for name in pinned} <= ATTACKS.keys()
