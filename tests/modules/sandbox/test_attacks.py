"""The most telling attacks of `tests/proof/attacks`, in each tier.

Holds: sandbox-70
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("amplifier_core._engine")
sys.path.insert(0, str(Path(__file__).parents[2] / "proof" / "attacks"))

from harness import LAYERS, clean_up, read_attacks, run_attacks
from outside import find_failure
from users import User, find_user

from amplifier_modules.sandbox.command import Tier

HELD = (
    "files/write",
    "files/write through the root of every process",
    "files/bind the whole root into the project",
    "files/write by a hard link",
    "files/overwrite a file of another in /tmp",
    "secrets/a key of ssh",
    "processes/read every environment",
    "processes/read the agent's memory by /proc",
    "processes/kill the agent",
    "processes/attach a debugger",
    "processes/limits of the agent",
    "processes/a daemon that respawns",
    "processes/type into the own terminal",
    "sockets/a server",
    "sockets/an abstract server",
    "network/tcp on loopback",
    "network/multipath tcp",
    "kernel/a ring that writes a file",
    "kernel/a user namespace",
    "late/the settings of bash",
)
"""What all tiers hold."""
HELD_IN_LAYERS = (
    "commit/tasks of an editor beside other files",
    "commit/instructions for agents by a hard link",
    "commit/a hook through a link in the project",
    "commit/a new repository among the branches",
    "commit/a remote with a hook in the folder of temporary files",
    "commit/the repository deleted",
    "commit/a parent swapped for a link by a person",
    "secrets/a kept version beside the project",
)
HELD_IN_NAMESPACES = (
    "metadata/chmod",
    "git/a monitor of files",
    "kernel/send to a queue of another",
)

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is one of Linux"),
    pytest.mark.skipif(
        os.uname().machine != "x86_64", reason="the attacks have system calls of x86-64"
    ),
]


@pytest.fixture(scope="module", autouse=True)
def _clean_up() -> Iterator[None]:
    yield
    clean_up()


@pytest.fixture
def user() -> User:
    found = find_user("root" if os.geteuid() == 0 else "user")
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (Tier.NAMESPACES, (*HELD, *HELD_IN_NAMESPACES)),
        ("bubblewrap", (*HELD, *HELD_IN_NAMESPACES)),
        (LAYERS, (*HELD_IN_NAMESPACES, *HELD_IN_LAYERS)),
        (Tier.LANDLOCK, HELD),
    ],
)
def test_attacks_have_no_effect(kind: str, names: tuple[str, ...], user: User) -> None:
    if failure := find_failure(kind, user):
        must_run = os.environ.get("CI") and kind in (Tier.NAMESPACES, Tier.LANDLOCK)
        (pytest.fail if must_run else pytest.skip)(failure)
    attacks = [read_attacks()[name] for name in names]
    results = run_attacks(attacks, kind, user, lambda _: False)

    assert {result.attack.name: result.effects for result in results if result.effects} == {}


# Holds: sandbox-71
def test_an_attack_that_succeeds_is_seen(user: User) -> None:
    names = ("files/write", "secrets/a key of ssh", "sockets/a server", "processes/send a signal")
    attacks = [read_attacks()[name] for name in names]
    results = run_attacks(attacks, "unconfined", user, lambda _: False)

    assert [result.is_proved for result in results] == [True] * len(names)
