"""What turns have changed in a project is taken back, and made again.

Holds: changes-50
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import pytest

from amplifier_agent import (
    Agent,
    Question,
    ScriptedProvider,
    ToolContext,
    ToolProgress,
    Undone,
    tool,
)
from amplifier_core import ApprovalResponse
from amplifier_modules.changes.place import find_changes_folder
from amplifier_modules.changes.session_changes import SessionChanges
from amplifier_modules.changes.session_lock import ChangesInUseError
from amplifier_modules.sandbox.environment import find_caches

sys.path.insert(0, str(Path(__file__).parent))

from layered_project import TOOLS, bash, list_results, make_agent, make_project, write

Tree = dict[str, tuple[int, int, str]]


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def caches(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("caches")))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path)


def read_tree(project: Path) -> Tree:
    """All that is in a folder: modes, times and contents."""
    tree: Tree = {}
    for path in sorted(project.rglob("*")):
        found = path.lstat()
        content = path.read_text() if path.is_file() else ""
        tree[str(path.relative_to(project))] = (found.st_mode, found.st_mtime_ns, content)
    return tree


def read_text(path: str) -> str:
    return Path(path).read_text()


def results(model: ScriptedProvider) -> str:
    """What the model has read of its calls."""
    return "\n".join(list_results(model))


TIDY = (
    write("notes.txt", "one\n"),
    bash("rm plan.txt; mkdir src; echo 1 > src/a; chmod 700 old; echo b >> old/a.txt"),
    bash("mv notes.txt src/notes.txt && echo two >> src/notes.txt"),
)


CHANGED = [
    ("modified", "old"),
    ("modified", "old/a.txt"),
    ("deleted", "plan.txt"),
    ("created", "src"),
    ("created", "src/a"),
    ("created", "src/notes.txt"),
]


def list_kinds(undone: Undone) -> list[tuple[str, str]]:
    return [(each.kind, each.path) for each in undone.paths]


async def test_a_turn_is_taken_back_and_made_again(project: Path) -> None:
    before = read_tree(project)
    agent, model = make_agent(project, *TIDY, "Done.", "I see.")
    async with agent.session() as session:
        await session.run("Tidy up")
        after = read_tree(project)

        seen = await session.undo(preview=True)
        assert read_tree(project) == after

        undone = await session.undo()
        assert read_tree(project) == before
        assert list_kinds(undone) == list_kinds(seen) == CHANGED
        assert (undone.changes, undone.conflicts, undone.missing) == (3, (), ())
        assert (await session.undo()).changes == 0

        redone = await session.redo()
        assert read_tree(project) == after
        assert redone.changes == 3
        await session.undo()
        await session.run("And now?")
    told = [str(each.content) for each in model.requests[-1].messages if each.role == "user"]
    assert len(told) == 5
    assert told[1].startswith("[The user took back changes of yours: `old`, `old/a.txt`, ")
    assert told[2].startswith("[The user made again changes of yours: ")


async def test_each_undo_takes_back_the_turn_before(project: Path) -> None:
    agent, _ = make_agent(project, write("a", "1"), "One.", "Nothing.", bash("echo 2 > a"), "Two.")
    before = read_tree(project)
    async with agent.session() as session:
        await session.run("one")
        first = read_tree(project)
        await session.run("nothing")
        await session.run("two")
        await session.undo()
        assert read_tree(project) == first
        await session.undo()
        assert read_tree(project) == before


# Holds: changes-51
async def test_what_somebody_else_has_changed_stays(project: Path) -> None:
    agent, _ = make_agent(project, bash("echo b > plan.txt; echo c > new; rm -r old"), "Done.")
    async with agent.session() as session:
        await session.run("go")
        (project / "plan.txt").write_text("mine\n")
        undone = await session.undo()
        (conflict,) = undone.conflicts
        assert conflict.path == "plan.txt"
        assert conflict.kept is not None
        assert read_text(conflict.kept) == "A plan.\n"
        assert [each.path for each in undone.paths] == ["new", "old", "old/a.txt"]
        assert (project / "plan.txt").read_text() == "mine\n"
        assert (project / "old" / "a.txt").read_text() == "a\n"


async def test_a_command_does_not_overwrite_what_changed_meanwhile(project: Path) -> None:
    caches = find_caches(project)
    wait = 'echo begun; until [ -e "$PIP_CACHE_DIR/go" ]; do :; done'
    agent, model = make_agent(project, bash(f"{wait}; echo b >> plan.txt; echo x > x"), "Done.")
    async with agent.session() as session, session.stream("go") as stream:
        async for event in stream:
            if isinstance(event, ToolProgress):
                (project / "plan.txt").write_text("mine\n")
                (caches / "pip").mkdir(exist_ok=True)
                (caches / "pip" / "go").touch()
    assert (project / "plan.txt").read_text() == "mine\n"
    assert (project / "x").read_text() == "x\n"
    assert "`plan.txt` was not changed: " in results(model)


# Holds: changes-52
async def test_the_changes_of_a_sub_agent_are_those_of_its_session(project: Path) -> None:
    child = ScriptedProvider([write("child.txt", "c"), bash("echo d > d"), "Done."])
    worker = Agent(child, tools=TOOLS, directory=project).as_tool("work", "Does the work.")
    model = ScriptedProvider([{"tool": "work", "arguments": {"prompt": "go"}}, "Done."])
    before = read_tree(project)
    agent = Agent(model, tools=[*TOOLS, worker], directory=project)
    async with agent.session() as session:
        await session.run("go")
        assert (project / "child.txt").exists()
        undone = await session.undo()
    assert [each.path for each in undone.paths] == ["child.txt", "d"]
    assert read_tree(project) == before


async def test_while_a_turn_runs_nothing_is_taken_back(project: Path) -> None:
    said: list[str] = []

    @tool
    async def take_back(context: ToolContext) -> str:
        """Take back."""
        for verb in (session.undo, session.redo):
            with pytest.raises(RuntimeError) as error:
                await verb()
            said.append(str(error.value))
        return "no"

    model = ScriptedProvider([write("a", "a"), {"tool": "take_back", "arguments": {}}, "Done."])
    agent = Agent(model, tools=[*TOOLS, take_back], directory=project)
    async with agent.session() as session:
        await session.run("go")
    assert said == [
        "a turn of the session runs; `undo` when it has ended",
        "a turn of the session runs; `redo` when it has ended",
    ]


# Holds: changes-53
async def test_a_stored_session_takes_back_what_it_did_in_another_process(
    project: Path, tmp_path: Path
) -> None:
    store = {"module": "store-sqlite", "config": {"folder": str(tmp_path / "sessions")}}
    before = read_tree(project)
    chat = str(uuid4())
    first, _ = make_agent(project, write("a", "a"), bash("rm -r old"), "Done.", store=store)
    async with first.session(session_id=chat) as session:
        await session.run("go")
        kept = SessionChanges(find_changes_folder(), chat)
        assert len(kept.list_changes()) == 2
    second, _ = make_agent(project, "I see.", store=store)
    async with second.session(session_id=chat) as session:
        undone = await session.undo()
        assert [each.path for each in undone.paths] == ["a", "old", "old/a.txt"]
        assert read_tree(project) == before
    kept.close(keep=False)


async def test_others_cannot_take_back_what_a_running_turn_changes(project: Path) -> None:
    seen: list[str] = []

    @tool
    def look() -> str:
        """Look."""
        with pytest.raises(ChangesInUseError) as error:
            SessionChanges(find_changes_folder(), session.id).list_changes()
        seen.append(str(error.value))
        return "seen"

    model = ScriptedProvider([write("a", "a"), {"tool": "look", "arguments": {}}, "Done."])
    agent = Agent(model, tools=[*TOOLS, look], directory=project)
    async with agent.session() as session:
        await session.run("go")
    assert len(seen) == 1
    assert "a turn of it runs in another process" in seen[0]


async def test_without_a_store_nothing_is_left(project: Path) -> None:
    agent, _ = make_agent(project, write("a", "a"), bash("echo b > b"), "Done.")
    async with agent.session() as session:
        await session.run("go")
        notes = find_changes_folder() / session.id
        assert notes.is_dir()
    assert not notes.exists()
    beside = project.parent / ".amplifier-changes"
    assert not beside.exists() or not list(beside.iterdir())


# Holds: changes-54
async def test_rewinding_takes_back_files_and_forks_the_conversation(
    project: Path, tmp_path: Path
) -> None:
    store = {"module": "store-sqlite", "config": {"folder": str(tmp_path / "sessions")}}
    agent, model = make_agent(
        project, write("a", "1"), "One.", bash("echo 2 > b"), "Two.", "Three.", store=store
    )
    async with agent.session() as session:
        await session.run("first")
        after_first = read_tree(project)
        (info,) = await agent.sessions()
        await session.run("second")
        rewound = await session.rewind(info.head)
        assert read_tree(project) == after_first
        assert [each.path for each in rewound.paths] == ["b"]
        assert rewound.fork is not None
    async with rewound.fork as fork:
        await fork.run("third")
    said = [each.content for each in model.requests[-1].messages if each.role == "user"]
    assert said == ["first", "third"]


# Holds: changes-55
async def test_what_a_layer_cannot_do_changes_nothing_and_the_way_out_is_named(
    project: Path,
) -> None:
    rename = "python3 -c \"import os; open('x', 'w'); os.rename('old', 'new')\""
    agent, model = make_agent(project, bash(rename), bash(rename, sandbox="direct"), "Done.")
    async with agent.session() as session:
        await session.run("go")
        first, second = results(model).split("\n")
    assert 'repeat it with `sandbox: \\"direct\\"`' in first
    assert "Invalid cross-device link" in first
    assert '"exit_code": 0' in second
    assert list(read_tree(project)) == ["new", "new/a.txt", "plan.txt", "x"]


def read_contents(project: Path) -> dict[str, str]:
    return {path: content for path, (_, _, content) in read_tree(project).items() if content}


# Holds: changes-56
async def test_what_is_changed_without_a_layer_is_taken_back_by_contents(project: Path) -> None:
    agent, model = make_agent(
        project,
        bash("mv old new; echo b > plan.txt; rm -f gone", sandbox="direct"),
        bash("echo job > job.txt", run_in_background=True),
        {"tool": "bash_job", "arguments": {"action": "wait", "id": "job-1"}},
        "Done.",
    )
    (project / "gone").write_text("gone\n")
    before = read_contents(project)
    async with agent.session() as session:
        await session.run("go")
        after = read_contents(project)
        assert list(after) == ["job.txt", "new/a.txt", "plan.txt"], results(model)
        undone = await session.undo()
        assert read_contents(project) == before
        assert undone.changes == 2
        await session.redo()
        assert read_contents(project) == after


HOOK = bash("echo x > x; git config alias.st status; echo 'exit 1' > .git/hooks/pre-commit")


async def run_with_hook(project: Path, **options: Any) -> tuple[str, str]:
    """Return the results of a command that asks nobody, and of one that leaves a hook of git."""
    make = bash("git init -q && git config user.name Ada && git remote add origin ../other")
    agent, model = make_agent(project, make, HOOK, "Done.", **options)
    async with agent.session() as session:
        await session.run("go")
    first, second = results(model).split("\n")
    assert "note" not in first
    config = read_text(str(project / ".git" / "config"))
    assert "name = Ada" in config
    assert "url = ../other" in config
    assert (project / "x").exists()
    return config, second


# Holds: changes-57
async def test_what_others_would_run_is_left_out_where_nobody_can_be_asked(project: Path) -> None:
    config, result = await run_with_hook(project)
    assert "alias" not in config
    assert not (project / ".git" / "hooks" / "pre-commit").exists()
    assert "`.git/config` was not changed: " in result
    assert "`.git/hooks/pre-commit` was not changed: " in result
    assert "No approval system available" in result


# Holds: changes-57
async def test_a_person_decides_about_what_others_would_run(project: Path) -> None:
    asked: list[Question] = []

    def answer(question: Question) -> bool:
        asked.append(question)
        return True

    config, result = await run_with_hook(project, approvals=answer)
    assert "st = status" in config
    assert read_text(str(project / ".git" / "hooks" / "pre-commit")) == "exit 1\n"
    assert "note" not in result
    (question,) = asked
    assert question.tool_name == "bash"
    assert "put these changes into the project?" in question.action
    assert "| created `.git/hooks/pre-commit`: git runs it by itself" in question.action
    assert "|   +exit 1" in question.action
    assert question.arguments["parts"] == [".git/config", ".git/hooks/pre-commit"]


async def test_a_no_with_words_leaves_it_out_and_the_model_reads_them(project: Path) -> None:
    async def answer(question: Question) -> ApprovalResponse:
        return ApprovalResponse(approved=False, reason="no hooks, please")

    config, result = await run_with_hook(project, approvals=answer)
    assert "alias" not in config
    assert not (project / ".git" / "hooks" / "pre-commit").exists()
    assert "no hooks, please" in result


async def test_a_turn_that_is_cancelled_while_a_person_is_asked_leaves_it_out(
    project: Path,
) -> None:
    async def answer(question: Question) -> bool:
        session.cancel()
        await anyio.sleep_forever()
        return True

    agent, _ = make_agent(project, bash("git init -q"), HOOK, "Done.", approvals=answer)
    async with agent.session() as session:
        result = await session.run("go")
    assert result.status == "cancelled"
    assert (project / "x").exists()
    assert not (project / ".git" / "hooks" / "pre-commit").exists()


def edit(path: str, old: str, new: str) -> dict[str, Any]:
    return {"tool": "edit_file", "arguments": {"path": path, "edits": [{"old": old, "new": new}]}}


# Holds: changes-50
async def test_several_writes_of_one_file_are_taken_back(project: Path) -> None:
    before = read_contents(project)
    look = {"tool": "read_file", "arguments": {"path": "plan.txt"}}
    agent, _ = make_agent(
        project,
        look,
        edit("plan.txt", "A", "B"),
        edit("plan.txt", "B", "C"),
        bash("mkdir src; echo 1 > src/a; echo 1 > src/b"),
        {"tool": "read_file", "arguments": {"path": "src/a"}},
        edit("src/a", "1", "2"),
        edit("src/a", "2", "3"),
        bash("echo 4 >> src/a; echo D >> plan.txt"),
        "One.",
        {"tool": "read_file", "arguments": {"path": "src/a"}},
        edit("src/a", "4", "5"),
        bash("mv src/a src/c; rm plan.txt"),
        "Two.",
    )
    async with agent.session() as session:
        await session.run("one")
        first = read_contents(project)
        assert first == before | {"plan.txt": "C plan.\nD\n", "src/a": "3\n4\n", "src/b": "1\n"}
        await session.run("two")
        second = read_contents(project)
        for _ in range(2):
            undone = await session.undo()
            assert (undone.conflicts, read_contents(project)) == ((), first)
            undone = await session.undo()
            assert (undone.conflicts, read_contents(project)) == ((), before)
            redone = await session.redo()
            assert (redone.conflicts, read_contents(project)) == ((), first)
            redone = await session.redo()
            assert (redone.conflicts, read_contents(project)) == ((), second)
