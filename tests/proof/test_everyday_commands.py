"""What developers run each day behaves in a sandbox as without one; what does not is pinned.

Holds: sandbox-8
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

sys.path.insert(0, str(Path(__file__).parent / "everyday"))

from harness import Harness, Outcome, Place
from rows import Row, read_differences, read_rows
from unconfined import UnconfinedRunner

from amplifier_modules.changes.open_change import Call
from amplifier_modules.changes.session_changes import SessionChanges
from amplifier_modules.sandbox.command import Command, CommandRunner, Ending, RunningCommand, Tier
from amplifier_modules.sandbox.hidden_files import HiddenFiles
from amplifier_modules.sandbox.sandbox import Sandbox
from amplifier_modules.sandbox.tiers import find_tier
from amplifier_modules.tools.bash.layered_runner import LayeredRunner

ROWS = read_rows()
LAYERS = "layers"
"""Namespaces, with a layer for the changes of each command."""
KINDS = [Tier.NAMESPACES, LAYERS, Tier.LANDLOCK]
DIFFERENCES = read_differences()
MIN_ROWS = 200
MIN_SAME = 0.95
MIN_SAME_IN_LAYERS = 0.925
MAX_ASKING = 0.03

each_row = pytest.mark.parametrize(
    "row", [pytest.param(row, marks=pytest.mark.xdist_group(row.name), id=row.name) for row in ROWS]
)


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    # No folder for temporary files: in the place of those a sandbox has others.
    above = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    above.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="everyday-", dir=above))
    umask = os.umask(0o022)
    try:
        yield Harness(folder)
    finally:
        os.umask(umask)
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def unconfined_outcomes() -> dict[str, Outcome]:
    """What the commands did without a sandbox, by name."""
    return {}


@contextmanager
def open_unconfined(place: Place) -> Iterator[CommandRunner]:
    yield UnconfinedRunner()


def run_unconfined(harness: Harness, row: Row, outcomes: dict[str, Outcome]) -> Outcome:
    if missing := harness.find_missing(row):
        pytest.skip(f"`{row.name}` needs {', '.join(missing)}")
    if row.name not in outcomes:
        outcomes[row.name] = harness.run(row, open_unconfined)
    return outcomes[row.name]


@each_row
def test_a_command_does_what_its_row_says_and_does_it_again(
    row: Row, harness: Harness, unconfined_outcomes: dict[str, Outcome]
) -> None:
    first = run_unconfined(harness, row, unconfined_outcomes)

    assert first.exit_code == row.exit, first.output
    assert row.prints in first.output
    assert harness.run(row, open_unconfined) == first


class InLayer:
    """Runs one command in a layer, as the tool does where it is not told otherwise."""

    def __init__(self, runner: CommandRunner, project: str, folder: Path) -> None:
        changes = SessionChanges(folder, "everyday")
        self._runner = LayeredRunner(runner, project, changes, Call("bash"))

    def start(self, command: Command, output: int) -> RunningCommand:
        self._running = self._runner.start(command, output)
        return self

    def wait(self) -> Ending:
        ending = self._running.wait()
        self._runner.settle(ending, "")
        self._runner.stop_waiting()
        return ending

    def kill(self) -> None:
        self._running.kill()

    def list_ports(self) -> list[int]:
        return self._running.list_ports()


@pytest.mark.parametrize("kind", KINDS)
@each_row
def test_a_command_behaves_in_a_sandbox_as_without_one(
    row: Row, kind: str, harness: Harness, unconfined_outcomes: dict[str, Outcome]
) -> None:
    found = find_tier()
    tier = Tier.NAMESPACES if kind == LAYERS else Tier(kind)
    if found.tier is Tier.NONE or (tier is Tier.NAMESPACES and found.tier is not tier):
        pytest.skip(f"there is no tier `{tier}` here: {'; '.join(found.reasons)}")

    bubblewrap = found.bubblewrap if tier is found.tier else None

    @contextmanager
    def open_sandbox(place: Place) -> Iterator[CommandRunner]:
        project, temporary = str(place.project), str(place.temporary)

        def open_reader(hidden: Sequence[str]) -> AbstractContextManager[CommandRunner]:
            return closing(
                Sandbox(
                    project,
                    temporary,
                    tier,
                    profile="read-only",
                    find_hidden=lambda: hidden,
                    bubblewrap=bubblewrap,
                )
            )

        find_hidden = HiddenFiles(project, open_reader, tuple).find
        writable = [str(place.caches)]
        with closing(
            Sandbox(
                project,
                temporary,
                tier,
                writable=writable,
                find_hidden=find_hidden,
                bubblewrap=bubblewrap,
            )
        ) as sandbox:
            kept = place.temporary.parent / "changes"
            yield cast("Any", InLayer(sandbox, project, kept)) if kind == LAYERS else sandbox

    expected = run_unconfined(harness, row, unconfined_outcomes)
    outcome = harness.run(row, open_sandbox)

    if row.name in DIFFERENCES.get(kind, {}):
        assert outcome != expected, "it behaves the same now: remove it from `differences.txt`"
    else:
        assert outcome == expected


def test_there_are_many_commands_and_none_twice() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS) >= MIN_ROWS


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_pinned_is_a_command_and_has_a_reason_and_a_way_out(kind: str) -> None:
    pinned = DIFFERENCES.get(kind, {})

    assert pinned.keys() - {row.name for row in ROWS} == set()
    assert [name for name, each in pinned.items() if not (each.reason and each.way_out)] == []


@pytest.mark.parametrize(
    ("kind", "least"), [(Tier.NAMESPACES, MIN_SAME), (LAYERS, MIN_SAME_IN_LAYERS)]
)
def test_most_commands_behave_the_same_in_namespaces_and_few_ask(kind: str, least: float) -> None:
    pinned = DIFFERENCES.get(kind, {})
    asking = [name for name, each in pinned.items() if each.way_out == "ask"]

    assert len(pinned) <= (1 - least) * len(ROWS)
    assert len(asking) <= MAX_ASKING * len(ROWS)
