"""A session goes back to a change, a turn or an event, and nothing is lost by that.

Holds: changes-90
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from amplifier_agent import Agent, RewindPointError, ScriptedProvider
from amplifier_modules.changes.change import find_changes_support
from amplifier_modules.stores.store import StoredEvent
from amplifier_modules.stores.stored_turns import StoredTurns, read_turns

sys.path.insert(0, str(Path(__file__).parent))

from layered_project import bash, make_agent, make_project, write

Step = dict[str, Any]

pytestmark = pytest.mark.skipif(not find_changes_support(), reason="no changes are kept here")


@pytest.fixture(autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("caches")))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


def read_files(project: Path) -> dict[str, str]:
    found = sorted(project.rglob("*"))
    return {str(each.relative_to(project)): each.read_text() for each in found if each.is_file()}


def make_store(folder: Path) -> dict[str, Any]:
    return {"module": "store-sqlite", "config": {"folder": str(folder / "sessions")}}


class Observed:
    """Runs turns, and keeps what the files were after each call and each turn."""

    def __init__(self, project: Path, turns: Sequence[Sequence[Step]], **options: Any) -> None:
        script = list(itertools.chain.from_iterable([*turn, "Done."] for turn in turns))
        self.model = ScriptedProvider([*script, "I see."])
        self.project = project
        self.turns = turns
        self.after_calls: list[dict[str, str]] = []
        self.after_turns: list[dict[str, str]] = []
        self.agent = Agent(
            self.model, tools=["tool-filesystem", "tool-bash"], directory=project, **options
        )

    async def run(self, session: Any) -> None:
        for number, _ in enumerate(self.turns, 1):
            async with session.stream(f"turn {number}") as stream:
                async for event in stream:
                    if type(event).__name__ == "ToolFinished":
                        assert not event.is_error, event.output
                        self.after_calls.append(read_files(self.project))
            self.after_turns.append(read_files(self.project))


NAMES = st.sampled_from(["a", "b", "c", "d/e"])
WRITES = st.builds(write, NAMES, st.text("xyz\n", max_size=4))


async def redo_all(session: Any) -> None:
    while (await session.redo()).changes:
        pass


@settings(
    max_examples=8,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.lists(WRITES, max_size=3), min_size=1, max_size=3), st.data())
def test_the_files_are_as_right_after_what_is_named_and_redo_gives_them_back(
    turns: list[list[Step]], data: st.DataObject
) -> None:
    async def check(project: Path, store: dict[str, Any]) -> None:
        # A file that exists is read before it is written again.
        observed = Observed(
            project, [add_reads(turns, number) for number in range(len(turns))], store=store
        )
        async with observed.agent.session() as session:
            await observed.run(session)
            last = read_files(project)
            named = await session.list_changes()
            # A write of what is there already is no change.
            before: list[dict[str, str]] = [{}, *observed.after_calls]
            written = [after for early, after in itertools.pairwise(before) if after != early]
            assert len(named) == len(written)
            points = {each.id: files for each, files in zip(named, written, strict=True)}
            points |= {f"turn-{n}": files for n, files in enumerate(observed.after_turns, 1)}
            points |= {str(each.event): points[each.id] for each in named}
            chosen = st.lists(st.sampled_from(list(points)), min_size=1, max_size=6, unique=True)
            for point in data.draw(chosen):
                rewound = await session.rewind(point, conversation=False)
                assert (rewound.conflicts, rewound.missing) == ((), ())
                assert read_files(project) == points[point], point
                await redo_all(session)
                assert read_files(project) == last

    with TemporaryDirectory() as folder:
        (Path(folder) / "project").mkdir()
        asyncio.run(check(Path(folder) / "project", make_store(Path(folder))))


def add_reads(turns: list[list[Step]], number: int) -> list[Step]:
    """The steps of a turn, in which each file that was written before is read first."""
    before = [step["arguments"]["path"] for turn in turns[:number] for step in turn]
    steps: list[Step] = []
    for step in turns[number]:
        if step["arguments"]["path"] in before:
            steps.append({"tool": "read_file", "arguments": {"path": step["arguments"]["path"]}})
        before.append(step["arguments"]["path"])
        steps.append(step)
    return steps


TURNS = (
    [write("a", "1\n"), bash("echo 2 >> a; mkdir src; echo x > src/x")],
    [],
    [bash("rm -r src; echo 3 >> a"), write("b", "b\n")],
)


# Holds: changes-91
async def test_the_fork_ends_with_the_result_of_the_change_that_is_named(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    observed = Observed(project, TURNS, store=make_store(tmp_path))
    async with observed.agent.session() as session:
        await observed.run(session)
        named = await session.list_changes()
        assert [(each.id, each.turn, each.tool, each.paths) for each in named] == [
            ("change-1", "turn-1", "write_file", ("a",)),
            ("change-2", "turn-1", "bash", ("a", "src", "src/x")),
            ("change-3", "turn-3", "bash", ("a", "src", "src/x")),
            ("change-4", "turn-3", "write_file", ("b",)),
        ]
        seen = await session.rewind("change-3", preview=True)
        assert seen.fork is None
        assert read_files(project) == observed.after_turns[2]

        rewound = await session.rewind("change-3")
        assert read_files(project) == observed.after_calls[2]
        assert [each.path for each in rewound.paths] == ["b"]
        assert rewound.fork is not None
        last = await session.rewind("turn-1", files=False)
        assert last.fork is not None
        assert read_files(project) == observed.after_calls[2]
    async with rewound.fork as fork:
        await fork.run("on")
    messages = observed.model.requests[-1].messages
    assert [each.role for each in messages][-4:] == ["user", "assistant", "tool", "user"]
    assert [each.content for each in messages if each.role == "user"] == [
        "turn 1", "turn 2", "turn 3", "on"
    ]  # fmt: skip
    assert "unknown" not in str(messages[-2].content)


# Holds: changes-91
@pytest.mark.parametrize("point", ["turn-1", "TURN-1", " turn-1 "])
async def test_the_fork_of_a_turn_has_its_answer(tmp_path: Path, point: str) -> None:
    project = make_project(tmp_path)
    observed = Observed(project, TURNS, store=make_store(tmp_path))
    async with observed.agent.session() as session:
        await observed.run(session)
        rewound = await session.rewind(point)
        assert read_files(project) == observed.after_turns[0]
        assert rewound.fork is not None
    async with rewound.fork as fork:
        await fork.run("on")
    said = [each.content for each in observed.model.requests[-1].messages if each.role != "tool"]
    assert [each for each in said if each in ("turn 1", "turn 2", "on")] == ["turn 1", "on"]


# Holds: changes-92
@pytest.mark.parametrize(
    ("to", "message"),
    [
        ("last", "`last` names nothing to go back to (must be a change such as `change-3`, a turn such as `turn-2`, or the number of an event)"),
        ("change-3", "there is no `change-3` (must be `change-1` to `change-2`)"),
        ("change-0", "there is no `change-0` (must be `change-1` to `change-2`)"),
        ("change-2", "`change-2` is taken back (`redo` makes it again)"),
        ("turn-2", "there is no `turn-2` (must be `turn-1`)"),
    ],
)  # fmt: skip
async def test_what_is_not_there_is_an_error_that_says_what_is(
    tmp_path: Path, to: str, message: str
) -> None:
    (tmp_path / "project").mkdir()
    steps = [write("a", "1\n"), write("b", "2\n")]
    observed = Observed(tmp_path / "project", [steps], store=make_store(tmp_path))
    async with observed.agent.session() as session:
        await observed.run(session)
        await session.rewind("change-1", conversation=False)
        before = read_files(tmp_path / "project")
        with pytest.raises(RewindPointError) as error:
            await session.rewind(to)
        assert str(error.value) == message
        assert len(await observed.agent.sessions()) == 1
        assert read_files(tmp_path / "project") == before == {"a": "1\n"}
        with pytest.raises(
            RewindPointError, match=r"there is no `event-9999` \(must be `event-1` to `event-\d+`\)"
        ):
            await session.rewind(9999)


# Holds: changes-92
async def test_without_a_store_a_change_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    observed = Observed(tmp_path / "project", [[write("a", "1\n"), write("b", "2\n")]])
    async with observed.agent.session(session_id="chat") as session:
        await observed.run(session)
        await session.rewind("change-1", conversation=False)
        assert read_files(tmp_path / "project") == {"a": "1\n"}
        with pytest.raises(RewindPointError) as error:
            await session.rewind("turn-1", conversation=False)
        message = (
            "session `chat` is not stored: `turn-1` is not known (must be `change-1` to `change-2`)"
        )
        assert str(error.value) == message
        with pytest.raises(RuntimeError, match="is not stored, so it has no forks"):
            await session.rewind("change-1")


# Holds: changes-91
async def test_a_change_of_a_sub_agent_is_named_in_its_session(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    child = ScriptedProvider([write("c", "c"), bash("echo d > d"), "Done."])
    worker = Agent(child, tools=["tool-filesystem", "tool-bash"], directory=project)
    agent, _ = make_agent(
        project,
        {"tool": "work", "arguments": {"prompt": "go"}},
        "Done.",
        store=make_store(tmp_path),
    )
    agent = agent.replace(tools=["tool-filesystem", worker.as_tool("work", "Works.")])
    async with agent.session() as session:
        await session.run("go")
        first, second = await session.list_changes()
        assert (first.id, first.turn, first.paths) == ("change-1", "turn-1", ("c",))
        assert second.paths == ("d",)
        rewound = await session.rewind("change-1")
        assert rewound.fork is not None
        assert sorted(read_files(project)) == ["c", "old/a.txt", "plan.txt"]


def test_the_end_of_a_turn_is_its_last_event_or_the_one_before_the_next() -> None:
    start, end = "execution:start", "orchestrator:complete"
    stored = [
        StoredEvent(1, 1, "session:origin", {}),
        StoredEvent(2, 1, start, {"prompt": "a"}),
        StoredEvent(3, 1, "tool:result", {"tool_call_id": "t", "message": {}}),
        StoredEvent(4, 1, end, {"status": "awaiting_approval"}),
        StoredEvent(5, 2, start, {"prompt": "a", "goes_on": True}),
        StoredEvent(6, 2, end, {"status": "success"}),
        StoredEvent(7, 2, "state:goal", None),
        StoredEvent(8, 2, start, {"prompt": "b"}),
        StoredEvent(9, 2, "context:message", {"message": {"role": "tool", "tool_call_id": "t"}}),
        StoredEvent(10, 3, start, {"prompt": "c"}),
    ]
    turns = read_turns(stored)
    assert turns == StoredTurns(10, (6, 9, 10), {"t": (3, 9)})
    assert [turns.find_turn(event) for event in (2, 5, 6, 9, 10)] == [1, 1, 2, 3, None]
    assert [turns.find_result("t", event) for event in (2, 3, 9)] == [3, 9, None]
