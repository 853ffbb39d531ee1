"""In the mode `review` a person sees what would change, before it does.

Holds: approval-23
"""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent, PartialApproval, Question, ScriptedProvider

sys.path.insert(0, str(Path(__file__).parent))

from layered_project import TOOLS, bash, list_results, make_agent, make_project, write

REVIEW = {"hooks": [{"module": "hooks-approval", "config": {"mode": "review"}}]}


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def caches(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("caches")))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path)


class Person:
    """Answers as it was told, and remembers what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[Question] = []

    def __call__(self, question: Question) -> Any:
        self.asked.append(question)
        return self.answers.pop(0)


def read_files(project: Path) -> dict[str, str]:
    """What files hold; empty folders, too."""
    found = sorted(each for each in project.rglob("*") if each.is_file() or not any(each.iterdir()))
    return {
        str(each.relative_to(project)): each.read_text() if each.is_file() else "" for each in found
    }


BEFORE = {"old/a.txt": "a\n", "plan.txt": "A plan.\n"}
TIDY = bash("rm plan.txt; echo b >> old/a.txt; mkdir new; echo 1 > new/x; echo 2 > new/y")


async def test_a_yes_to_all_makes_exactly_what_was_shown(project: Path) -> None:
    person = Person(True)
    agent, model = make_agent(project, TIDY, "Done.", approvals=person, **REVIEW)
    await agent.run("go")
    assert read_files(project) == {"old/a.txt": "a\nb\n", "new/x": "1\n", "new/y": "2\n"}
    (question,) = person.asked
    assert question.action.splitlines() == [
        "put these changes into the project?",
        "| created `new`, 3 paths",
        "|   created `new/x`",
        "|     @@ -0,0 +1 @@",
        "|     +1",
        "|   created `new/y`",
        "|     @@ -0,0 +1 @@",
        "|     +2",
        "| modified `old/a.txt`",
        "|   @@ -1 +1,2 @@",
        "|    a",
        "|   +b",
        "| deleted `plan.txt`",
        "|   @@ -1 +0,0 @@",
        "|   -A plan.",
    ]
    assert question.arguments["parts"] == ["new", "old/a.txt", "plan.txt"]
    assert "note" not in list_results(model)[0]


async def test_a_yes_to_some_makes_those_and_the_model_reads_of_the_others(project: Path) -> None:
    person = Person(PartialApproval(parts=["new", "nothing"]))
    agent, model = make_agent(project, TIDY, "Done.", approvals=person, **REVIEW)
    async with agent.session() as session:
        await session.run("go")
        assert read_files(project) == BEFORE | {"new/x": "1\n", "new/y": "2\n"}
        (result,) = list_results(model)
        assert "`old/a.txt` was not changed; `plan.txt` was not changed" in result
        await session.undo()
        assert read_files(project) == BEFORE


@pytest.mark.parametrize("answer", [False, "not the plan!", None])
async def test_a_no_leaves_no_trace(project: Path, answer: Any) -> None:
    person = None if answer is None else Person(answer)
    agent, model = make_agent(project, TIDY, "Done.", approvals=person, **REVIEW)
    async with agent.session() as session:
        await session.run("go")
        assert read_files(project) == BEFORE
        assert (await session.undo()).changes == 0
    (result,) = list_results(model)
    assert "`new` was not changed" in result
    assert (answer if isinstance(answer, str) else "") in result


async def test_files_are_shown_before_they_are_written(project: Path) -> None:
    person = Person(True, False)
    agent, model = make_agent(
        project,
        write("a.txt", "one\n"),
        write("b.txt", "two\n"),
        "Done.",
        approvals=person,
        **REVIEW,
    )
    await agent.run("go")
    assert read_files(project) == BEFORE | {"a.txt": "one\n"}
    assert person.asked[0].action.splitlines() == [
        "put these changes into the project?",
        "| created `a.txt`",
        "|   @@ -0,0 +1 @@",
        "|   +one",
    ]
    assert "nothing was written: " in list_results(model)[1]


async def test_a_file_that_changes_while_it_is_shown_is_not_written(project: Path) -> None:
    def answer(question: Question) -> bool:
        (project / "plan.txt").write_text("mine\n")
        return True

    read = {"tool": "read_file", "arguments": {"path": "plan.txt"}}
    agent, model = make_agent(
        project, read, write("plan.txt", "theirs\n"), "Done.", approvals=answer, **REVIEW
    )
    await agent.run("go")
    assert read_files(project)["plan.txt"] == "mine\n"
    assert "has changed since" in list_results(model)[1]


async def test_what_cannot_be_shown_is_asked_about_before_it_runs(project: Path) -> None:
    person = Person(False, False)
    agent, model = make_agent(
        project,
        bash("touch x", sandbox="direct"),
        bash("touch y", run_in_background=True),
        bash("cat plan.txt"),
        "Done.",
        approvals=person,
        **REVIEW,
    )
    await agent.run("go")
    assert read_files(project) == BEFORE
    assert [each.arguments["command"] for each in person.asked] == ["touch x", "touch y"]
    assert "A plan." in list_results(model)[2]


async def test_a_sub_agent_is_reviewed_as_its_parent(project: Path) -> None:
    person = Person(False)
    child = ScriptedProvider([bash("touch x"), "Done."])
    worker = Agent(child, tools=TOOLS, directory=project).as_tool("work", "Does the work.")
    model = ScriptedProvider([{"tool": "work", "arguments": {"prompt": "go"}}, "Done."])
    agent = Agent(model, tools=[*TOOLS, worker], directory=project, approvals=person, **REVIEW)
    await agent.run("go")
    assert read_files(project) == BEFORE
    assert [each.arguments["changes"][0]["path"] for each in person.asked] == ["x"]


PATCH = """\
*** Begin Patch
*** Add File: new/a
+1
*** Update File: plan.txt
@@
-A plan.
+No plan.
*** Delete File: old/a.txt
*** End Patch
"""
READ = [{"tool": "read_file", "arguments": {"path": path}} for path in ("plan.txt", "old/a.txt")]
PATCHED = {"tool": "apply_patch", "arguments": {"patch": PATCH}}
PARTS = {
    "new/a": {"new/a": "1\n"},
    "plan.txt": {"plan.txt": "No plan.\n"},
    "old/a.txt": {"old": "", "old/a.txt": None},
}


# Holds: approval-35
@pytest.mark.parametrize(
    "chosen",
    [list(each) for count in (1, 2, 3) for each in itertools.combinations(PARTS, count)],
    ids=" ".join,
)
async def test_of_a_patch_exactly_the_chosen_files_are_written(
    project: Path, chosen: list[str]
) -> None:
    person = Person(PartialApproval(parts=[*reversed(chosen), "else"]))
    agent, model = make_agent(project, *READ, PATCHED, "Done.", approvals=person, **REVIEW)
    async with agent.session() as session:
        await session.run("go")
        expected: dict[str, str | None] = {**BEFORE}
        for name in chosen:
            expected |= PARTS[name]
        assert read_files(project) == {k: v for k, v in expected.items() if v is not None}
        (question,) = person.asked
        assert question.arguments["parts"] == list(PARTS)
        result = json.loads(list_results(model)[-1])
        left = [name for name in PARTS if name not in chosen]
        assert result.get("not_written", []) == left
        assert ("the person agreed to the rest alone" in result.get("note", "")) is bool(left)
        assert sorted(each["path"] for each in result["files"]) == sorted(chosen)
        await session.undo()
        assert read_files(project) == BEFORE


# Holds: approval-35
async def test_the_chosen_files_are_all_written_or_none_is(project: Path) -> None:
    def answer(question: Question) -> PartialApproval:
        (project / "plan.txt").write_text("mine\n")
        return PartialApproval(parts=["new/a", "plan.txt"])

    agent, model = make_agent(project, *READ, PATCHED, "Done.", approvals=answer, **REVIEW)
    await agent.run("go")
    assert read_files(project) == BEFORE | {"plan.txt": "mine\n"}
    assert "has changed since" in list_results(model)[-1]


EDITS = [{"old": "A", "new": "The"}, {"old": "plan", "new": "list"}, {"old": "list", "new": "sum"}]
EDITED = {"tool": "edit_file", "arguments": {"path": "plan.txt", "edits": EDITS}}


# Holds: approval-36
@pytest.mark.parametrize(
    ("parts", "content"),
    [
        (["edit 1"], "The plan.\n"),
        (["edit 2"], "A list.\n"),
        (["edit 3", "edit 2"], "A sum.\n"),
        (["edit 1", "edit 2", "edit 3"], "The sum.\n"),
        (["edit 1", "edit 3"], None),
        (["edit 3"], None),
    ],
    ids=str,
)
async def test_of_several_edits_exactly_the_chosen_ones_are_made_or_none_is(
    project: Path, parts: list[str], content: str | None
) -> None:
    person = Person(PartialApproval(parts=parts))
    agent, model = make_agent(project, READ[0], EDITED, "Done.", approvals=person, **REVIEW)
    await agent.run("go")
    assert read_files(project) == BEFORE | {"plan.txt": content or "A plan.\n"}
    assert person.asked[0].action.splitlines() == [
        "put these changes into the project?",
        "| edit 1 of `plan.txt`", "|   @@ -1 +1 @@", "|   -A plan.", "|   +The plan.",
        "| edit 2 of `plan.txt`", "|   @@ -1 +1 @@", "|   -The plan.", "|   +The list.",
        "| edit 3 of `plan.txt`", "|   @@ -1 +1 @@", "|   -The list.", "|   +The sum.",
    ]  # fmt: skip
    result = list_results(model)[-1]
    assert ("not_written" in result) is (content is not None and len(parts) < 3)


LONG = "".join(f"{number}\n" for number in range(30))
NEW = LONG.replace("2\n3\n", "2\nthree\n", 1).replace("15\n", "").replace("28\n", "28\nmore\n")
HUNKS = {
    "long.txt, hunk 1 of 3": LONG.replace("2\n3\n", "2\nthree\n", 1),
    "long.txt, hunk 2 of 3": LONG.replace("15\n", ""),
    "long.txt, hunk 3 of 3": LONG.replace("28\n", "28\nmore\n"),
}
READ_LONG = {"tool": "read_file", "arguments": {"path": "long.txt"}}
LONG_COMMAND = bash(f"cat > long.txt <<'END'\n{NEW}END\n")


# Holds: approval-46
@pytest.mark.parametrize("call", [write("long.txt", NEW), LONG_COMMAND], ids=["file", "command"])
@pytest.mark.parametrize("name", list(HUNKS)[1:2])
async def test_of_a_file_exactly_the_chosen_hunks_are_made(
    project: Path, call: Any, name: str
) -> None:
    (project / "long.txt").write_text(LONG)
    person = Person(PartialApproval(parts=[name], reason="the rest is wrong"))
    agent, model = make_agent(project, READ_LONG, call, "Done.", approvals=person, **REVIEW)
    async with agent.session() as session:
        await session.run("go")
        assert read_files(project)["long.txt"] == HUNKS[name]
        (question,) = person.asked
        assert question.arguments["parts"] == ["long.txt", *HUNKS]
        shown = question.arguments["hunks"]["long.txt"]
        assert list(shown) == list(HUNKS)
        rows = [row.removeprefix("|   ") for row in question.action.split("\n")[2:]]
        assert "\n".join(rows) + "\n" == "".join(shown.values())
        result = list_results(model)[-1]
        for each, text in shown.items():
            left = f"{each} ({text.split(chr(10))[0]})"
            assert (left in result.replace("`", "")) is (each != name)
        assert "the rest is wrong" in result
        await session.undo()
        assert read_files(project)["long.txt"] == LONG


# Holds: approval-46
@pytest.mark.parametrize("call", [write("long.txt", NEW), LONG_COMMAND], ids=["file", "command"])
@pytest.mark.parametrize(("parts", "content"), [(list(HUNKS), NEW), ([], LONG)], ids=str)
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_all_hunks_are_the_new_file_and_none_are_the_old_one(
    project: Path, call: Any, parts: list[str], content: str
) -> None:
    (project / "long.txt").write_text(LONG)
    person = Person(PartialApproval(parts=parts))
    agent, _ = make_agent(project, READ_LONG, call, "Done.", approvals=person, **REVIEW)
    await agent.run("go")
    assert read_files(project)["long.txt"] == content


# Holds: approval-46
@pytest.mark.parametrize("call", [write("long.txt", NEW), LONG_COMMAND], ids=["file", "command"])
async def test_hunks_of_a_file_that_changes_meanwhile_are_not_made(
    project: Path, call: Any
) -> None:
    (project / "long.txt").write_text(LONG)

    def answer(question: Question) -> PartialApproval:
        (project / "long.txt").write_text(f"mine\n{LONG}")
        return PartialApproval(parts=["long.txt, hunk 2 of 3"])

    agent, model = make_agent(project, READ_LONG, call, "Done.", approvals=answer, **REVIEW)
    await agent.run("go")
    assert read_files(project)["long.txt"] == f"mine\n{LONG}"
    assert "changed" in list_results(model)[-1]


# Holds: approval-46
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize(
    "also", ["chmod +x long.txt", "ln long.txt other", "printf '\\0' >> long.txt"]
)
async def test_a_mode_a_link_and_what_is_no_text_are_taken_whole(project: Path, also: str) -> None:
    (project / "long.txt").write_text(LONG)
    person = Person(False)
    command = bash(f"{LONG_COMMAND['arguments']['command']}{also}")
    agent, _ = make_agent(project, command, "Done.", approvals=person, **REVIEW)
    await agent.run("go")
    assert "hunks" not in person.asked[0].arguments
