"""A question about changes outlives its process, and exactly what was shown is committed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from amplifier_agent import Agent, PartialApproval, Question, Result, ScriptedProvider
from amplifier_core.events import APPROVAL_REQUIRED
from amplifier_core.world import World, use
from amplifier_modules.changes.place import find_changes_folder
from amplifier_modules.loops.boundary.kept_questions import KeptQuestion
from amplifier_modules.stores.inbox import ANSWER
from amplifier_modules.stores.sqlite import SqliteStore

sys.path.insert(0, str(Path(__file__).parent))

from layered_project import TOOLS, bash, make_project, write

REVIEW = [{"module": "hooks-approval", "config": {"mode": "review"}}]
TIDY = bash("echo it ran; rm plan.txt; echo b >> old/a.txt; mkdir new; echo 1 > new/x")
BEFORE = {"old/a.txt": "a\n", "plan.txt": "A plan.\n"}
AFTER = {"new/x": "1\n", "old/a.txt": "a\nb\n"}


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def caches(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("caches")))


class Moment(World):
    """So many seconds after a moment."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def time(self) -> float:
        return 1_800_000_000 + self.seconds


class Desk:
    """A project, and agents on it as of processes of their own."""

    def __init__(self, folder: Path) -> None:
        self.project = make_project(folder)
        self.folder = str(folder / "sessions")
        self.store = {"module": "store-sqlite", "config": {"folder": self.folder}}
        self.session_id = ""
        self.model = ScriptedProvider([])

    def agent(self, *script: Any, **options: Any) -> Agent[Any]:
        self.model = ScriptedProvider(script)
        given: dict[str, Any] = {
            "tools": TOOLS,
            "approvals": "wait",
            "store": self.store,
            "hooks": REVIEW,
        }
        return Agent(self.model, directory=self.project, **{**given, **options})

    async def ask(self, *script: Any, **options: Any) -> Question:
        """Run a turn until it waits."""
        result = await self.agent(*(script or (TIDY,)), **options).run("go")
        assert result.status == "awaiting_approval"
        self.session_id = result.session_id
        (question,) = result.questions
        return question

    async def answer(self, question: Question, answer: Any) -> None:
        await self.agent().answer(self.session_id, question.id, answer)

    async def resume(self, **options: Any) -> tuple[Result[Any], str]:
        """Go on in another process, and return what the model has read of the call."""
        agent = self.agent("Done.", "Done.", **options)
        async with agent.session(session_id=self.session_id) as session:
            result = await session.resume_turn()
        read = [each for each in result.messages if each["role"] == "tool"]
        return result, read[-1]["content"] if read else ""

    async def wait_again(self, **options: Any) -> tuple[Question, ...]:
        """Go on without an answer, and return what waits then."""
        results: list[Result[Any]] = []
        session = self.agent(**options).session(session_id=self.session_id)
        async with anyio.create_task_group() as tasks, session:

            async def go_on() -> None:
                results.append(await session.resume_turn())

            tasks.start_soon(go_on)
            while not session.questions:
                await anyio.lowlevel.checkpoint()
        assert results[0].status == "awaiting_approval"
        return results[0].questions

    def read_files(self) -> dict[str, str]:
        found = sorted(each for each in self.project.rglob("*") if each.is_file())
        return {str(each.relative_to(self.project)): each.read_text() for each in found}

    def list_kept(self) -> list[str]:
        """The changes of the session that are kept, by the names of their notes."""
        notes = find_changes_folder().glob(f"{self.session_id}/0*.json")
        return sorted(each.name for each in notes)

    def find_layer(self) -> Path:
        (found,) = find_changes_folder().glob(f"{self.session_id}/0*/layer")
        return found


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# Holds: approval-24, changes-80
async def test_a_turn_ends_with_its_question_and_a_later_yes_commits_it(desk: Desk) -> None:
    question = await desk.ask()
    assert desk.read_files() == BEFORE
    assert question.arguments["parts"] == ["new", "old/a.txt", "plan.txt"]
    assert await desk.agent().questions(desk.session_id) == [question]
    await desk.answer(question, True)
    result, read = await desk.resume()
    assert (result.status, result.text) == ("completed", "Done.")
    assert desk.read_files() == AFTER
    assert "it ran" in read
    assert read.count("it ran") == 1
    assert desk.list_kept() == ["000001.json"]


# Holds: changes-80
async def test_the_command_does_not_run_again(desk: Desk) -> None:
    question = await desk.ask(bash("od -An -N8 -tx1 /dev/urandom | tee random"))
    made = (desk.find_layer() / "random").read_text()
    await desk.answer(question, True)
    _, read = await desk.resume()
    assert desk.read_files() == BEFORE | {"random": made}
    assert made.strip() in read


# Holds: approval-24
async def test_a_question_is_a_row_before_a_person_sees_it(desk: Desk) -> None:
    rows: list[Any] = []

    async def look(question: Question) -> bool:
        store = SqliteStore(folder=desk.folder)
        (info,) = await store.sessions()
        events = await store.read(info.id)
        rows.extend(each.body for each in events if each.kind == "approval:required")
        rows.append((question.id, question.action, info.id))
        await store.close()
        return False

    await desk.agent(TIDY, "Done.", approvals=look).run("go")
    row, (id, action, session_id) = rows
    assert (row["question_id"], row["prompt"], row["tool_name"]) == (id, action, "bash")
    assert (row["session_id"], row["epoch"], row["timeout"]) == (session_id, 1, None)
    assert row["resume"]["layer"] != row["hash"]
    assert {len(row["resume"]["layer"]), len(row["hash"])} == {64}
    assert [name for name, _, _ in row["resume"]["parts"]] == ["new", "old/a.txt", "plan.txt"]


# Holds: approval-25
async def test_a_later_yes_to_some_commits_those(desk: Desk) -> None:
    question = await desk.ask()
    await desk.answer(question, PartialApproval(parts=["new", "nothing"]))
    _, read = await desk.resume()
    assert desk.read_files() == BEFORE | {"new/x": "1\n"}
    assert "`old/a.txt` was not changed; `plan.txt` was not changed" in read


# Holds: approval-25
@pytest.mark.parametrize("answer", [False, "not the plan!"])
async def test_a_later_no_leaves_no_trace(desk: Desk, answer: Any) -> None:
    question = await desk.ask()
    assert desk.list_kept() == ["000001.json"]
    await desk.answer(question, answer)
    _, read = await desk.resume()
    assert (desk.read_files(), desk.list_kept()) == (BEFORE, [])
    assert not list(find_changes_folder().glob(f"{desk.session_id}/0*"))
    assert "`new` was not changed" in read
    assert (answer if isinstance(answer, str) else "") in read


# Holds: approval-25
async def test_in_other_modes_a_later_no_leaves_out_what_was_asked_about(desk: Desk) -> None:
    auto = {"hooks": [{"module": "hooks-approval", "config": {"mode": "auto"}}]}
    question = await desk.ask(bash("echo a > .envrc; echo b > b"), **auto)
    assert desk.read_files() == BEFORE
    assert [each["path"] for each in question.arguments["changes"]] == [".envrc"]
    await desk.answer(question, False)
    await desk.resume(**auto)
    assert desk.read_files() == BEFORE | {"b": "b\n"}


# Holds: changes-81
async def test_what_a_person_changes_meanwhile_stays(desk: Desk) -> None:
    question = await desk.ask()
    (desk.project / "old" / "a.txt").write_text("mine\n")
    (desk.project / "new").mkdir()
    (desk.project / "new" / "x").write_text("mine, too\n")
    await desk.answer(question, PartialApproval(parts=["new", "old/a.txt"]))
    _, read = await desk.resume()
    mine = {"new/x": "mine, too\n", "old/a.txt": "mine\n", "plan.txt": "A plan.\n"}
    assert desk.read_files() == mine
    assert "`old/a.txt` was not changed: somebody has changed it since" in read
    assert "`new/x` was not changed: somebody has changed it since" in read


def change_content(layer: Path) -> None:
    (layer / "new" / "x").write_text("2\n")


def change_mode(layer: Path) -> None:
    (layer / "new" / "x").chmod(0o755)


def add_file(layer: Path) -> None:
    (layer / "added").write_text("")


def add_link(layer: Path) -> None:
    (layer / "old" / "link").symlink_to("/etc/passwd")


def remove_file(layer: Path) -> None:
    (layer / "new" / "x").unlink()


def remove_all(layer: Path) -> None:
    layer.rename(layer.with_name("elsewhere"))


TAMPERING = [change_content, change_mode, add_file, add_link, remove_file, remove_all]


# Holds: changes-82
@pytest.mark.parametrize("tamper", TAMPERING, ids=lambda each: each.__name__)
async def test_a_layer_that_is_not_as_it_was_shown_is_refused(desk: Desk, tamper: Any) -> None:
    question = await desk.ask()
    tamper(desk.find_layer())
    await desk.answer(question, True)
    result, read = await desk.resume()
    assert (desk.read_files(), desk.list_kept(), result.text) == (BEFORE, [], "Done.")
    told = "the command has run, and nothing that it changed is kept: it was changed since"
    assert told in read


# Holds: changes-82
async def test_a_layer_that_is_gone_is_refused(desk: Desk) -> None:
    question = await desk.ask()
    layer = desk.find_layer()
    layer.parent.rename(layer.parent.with_name("gone"))
    await desk.answer(question, True)
    _, read = await desk.resume()
    assert desk.read_files() == BEFORE
    assert "it is not there any more" in read


# Holds: changes-83
async def test_a_new_prompt_ends_the_question_and_its_changes(desk: Desk) -> None:
    await desk.ask()
    async with desk.agent("Well.").session(session_id=desk.session_id) as session:
        await session.run("Something else")
    assert (desk.read_files(), desk.list_kept()) == (BEFORE, [])
    assert await desk.agent().questions(desk.session_id) == []


# Holds: changes-83
async def test_changes_that_wait_are_counted_and_survive_other_sessions(desk: Desk) -> None:
    question = await desk.ask()
    place = find_changes_folder() / desk.session_id
    assert "sizes.json" in {each.name for each in place.iterdir()}
    auto = [{"module": "hooks-approval", "config": {"mode": "auto"}}]
    await desk.agent(bash("echo 3 > other"), "Done.", hooks=auto).run("go")
    await desk.answer(question, True)
    await desk.resume()
    assert desk.read_files() == AFTER | {"other": "3\n"}


# Holds: changes-83
async def test_a_question_whose_time_has_passed_takes_its_changes_along(desk: Desk) -> None:
    with use(Moment(0)):
        question = await desk.ask(approval_timeout=60)
    with use(Moment(61)):
        with pytest.raises(LookupError, match="has passed, which denies it"):
            await desk.answer(question, True)
        _, read = await desk.resume(approval_timeout=60)
    assert (desk.read_files(), desk.list_kept()) == (BEFORE, [])
    assert "`new` was not changed" in read


# Holds: approval-26
async def test_only_an_answer_to_exactly_this_question_counts(desk: Desk) -> None:
    question = await desk.ask()
    store = SqliteStore(folder=desk.folder)
    shown = (await read_question(store, desk.session_id)).digest
    forged = [
        {"question_id": "another", "approved": True, "shown": shown},
        {"question_id": question.id, "approved": True},
        {"question_id": question.id, "approved": True, "shown": shown[::-1]},
    ]
    for other in ({"epoch": 2}, {"hash": "0" * 64}, {"session_id": "another"}):
        asked = await read_question(store, desk.session_id, **other)
        forged.append({"question_id": question.id, "approved": True, "shown": asked.digest})
    for body in forged:
        await store.put(desk.session_id, ANSWER, body)
    assert await desk.agent().questions(desk.session_id) == [question]
    assert [each.id for each in await desk.wait_again()] == [question.id]
    assert desk.read_files() == BEFORE
    await desk.answer(question, True)
    await desk.resume()
    assert desk.read_files() == AFTER
    await store.close()


async def read_question(store: SqliteStore, stored_id: str, **other: Any) -> KeptQuestion:
    rows = [each.body for each in await store.read(stored_id) if each.kind == APPROVAL_REQUIRED]
    return KeptQuestion(**{**rows[-1], **other})


class SlowStore(SqliteStore):
    """Stores answers once two processes have read that there is none."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder=folder)
        self.both = anyio.Event()
        self.waiting = 0

    async def put(self, session_id: str, kind: str, body: Any) -> int:
        self.waiting += 1
        if self.waiting == 2:
            self.both.set()
        await self.both.wait()
        return await super().put(session_id, kind, body)


# Holds: approval-27
async def test_of_two_answers_the_first_row_counts_and_the_second_is_told(desk: Desk) -> None:
    question = await desk.ask()
    store = SlowStore(desk.folder)
    won: list[Any] = []

    async def answer(answer: Any) -> None:
        agent = desk.agent(store=store)
        try:
            await agent.answer(desk.session_id, question.id, answer)
        except LookupError as error:
            assert "was answered by another process before" in str(error)  # noqa: PT017
        else:
            won.append(answer)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer, True)
        tasks.start_soon(answer, False)
    await store.close()
    assert len(won) == 1
    await desk.resume()
    assert desk.read_files() == (AFTER if won[0] else BEFORE)


# Holds: approval-27
async def test_whoever_is_asked_here_is_told_by_the_answer_of_another_process(desk: Desk) -> None:
    async def ask(question: Question) -> bool:
        (info,) = await desk.agent().sessions()
        await desk.agent().answer(info.id, question.id, False)
        return True

    result = await desk.agent(TIDY, "Done.", approvals=ask).run("go")
    assert (desk.read_files(), result.text) == (BEFORE, "Done.")


READ = {"tool": "read_file", "arguments": {"path": "plan.txt"}}
EDITS = [{"old": "A plan.", "new": "A better plan."}]
EDIT = {"tool": "edit_file", "arguments": {"path": "plan.txt", "edits": EDITS}}


# Holds: changes-85
async def test_a_write_waits_too_and_is_made_as_it_was_shown(desk: Desk) -> None:
    question = await desk.ask(READ, EDIT)
    assert desk.read_files() == BEFORE
    await desk.answer(question, True)
    _, read = await desk.resume()
    assert desk.read_files() == BEFORE | {"plan.txt": "A better plan.\n"}
    assert "+A better plan." in read


# Holds: changes-85
async def test_a_write_that_is_denied_later_is_not_made(desk: Desk) -> None:
    question = await desk.ask(write("new.txt", "1"))
    await desk.answer(question, "not that")
    _, read = await desk.resume()
    assert desk.read_files() == BEFORE
    assert "nothing was written" in read
    assert "not that" in read


# Holds: changes-85
@pytest.mark.parametrize("found", ["mine\n", "A better plan.\n"])
async def test_a_file_that_was_changed_since_is_not_written(desk: Desk, found: str) -> None:
    question = await desk.ask(READ, EDIT)
    (desk.project / "plan.txt").write_text(found)
    await desk.answer(question, True)
    _, read = await desk.resume()
    assert desk.read_files() == BEFORE | {"plan.txt": found}
    known = "it was written before the process ended"
    assert (known if "better" in found else "a file has changed while a person was asked") in read


# Holds: changes-85
async def test_a_protected_file_is_asked_about_once_before_and_once_with_its_change(
    desk: Desk,
) -> None:
    before = await desk.ask(write(".env", "KEY=1"))
    await desk.answer(before, True)
    (question,) = await desk.wait_again()
    assert question.action.startswith("put these changes into the project?")
    await desk.answer(question, True)
    await desk.resume()
    assert desk.read_files() == BEFORE | {".env": "KEY=1"}


# Holds: approval-40
async def test_a_later_yes_commits_what_a_sub_agent_has_changed(desk: Desk) -> None:
    tools = (*TOOLS, "tool-task")
    task = {"tool": "task", "arguments": {"prompt": "tidy up"}}
    question = await desk.ask(task, TIDY, tools=tools)
    assert question.action.startswith("the sub-agent `tidy up` asks:\n")
    assert await desk.agent().questions(desk.session_id) == [question]
    assert (await desk.wait_again(tools=tools), desk.read_files()) == ((question,), BEFORE)
    await desk.answer(question, PartialApproval(parts=["old/a.txt"]))
    result, read = await desk.resume(tools=tools)
    assert (result.status, read) == ("completed", '{"id": "task-1", "answer": "Done."}')
    assert desk.read_files() == BEFORE | {"old/a.txt": "a\nb\n"}


# Holds: approval-46
@pytest.mark.parametrize("tool", ["bash", "write_file"])
async def test_a_later_yes_to_some_hunks_makes_those(desk: Desk, tool: str) -> None:
    old = "".join(f"{number}\n" for number in range(30))
    new = old.replace("1\n2\n", "1\ntwo\n", 1) + "more\n"
    (desk.project / "long.txt").write_text(old)
    script = [bash(f"cat > long.txt <<'END'\n{new}END\n")]
    if tool == "write_file":
        script = [{"tool": "read_file", "arguments": {"path": "long.txt"}}, write("long.txt", new)]
    question = await desk.ask(*script)
    answer = PartialApproval(parts=["long.txt, hunk 2 of 2"], reason="no words for numbers")
    await desk.answer(question, answer)
    _, read = await desk.resume()
    assert desk.read_files()["long.txt"] == f"{old}more\n"
    assert "long.txt, hunk 1 of 2 (@@ -1,6 +1,6 @@)" in read
    assert "no words for numbers" in read
