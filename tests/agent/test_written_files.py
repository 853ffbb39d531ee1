"""What a model writes by the tools of `tool-filesystem`, in agents and in plain sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent, Question, ScriptedProvider, hook
from amplifier_core import AmplifierSession, HookResult

Call = dict[str, Any]
Emitted = list[tuple[str, dict[str, Any]]]


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def read(path: str) -> Call:
    return {"tool": "read_file", "arguments": {"path": path}}


def write(path: str, content: str) -> Call:
    return {"tool": "write_file", "arguments": {"path": path, "content": content}}


def edit(path: str, old: str, new: str) -> Call:
    arguments = {"path": path, "edits": [{"old": old, "new": new}]}
    return {"tool": "edit_file", "arguments": arguments}


def apply(text: str) -> Call:
    patch = f"*** Begin Patch\n{text}\n*** End Patch\n"
    return {"tool": "apply_patch", "arguments": {"patch": patch}}


def recorder(emitted: Emitted) -> Any:
    @hook("artifact:read", "artifact:write", "tool:pre", "tool:post", "tool:error")
    def note(event: str, data: dict[str, Any]) -> None:
        shared = ("session_id", "parent_id", "timestamp")
        emitted.append((event, {key: data[key] for key in data if key not in shared}))

    return note


async def test_events_say_which_files_were_read_and_written(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    emitted: Emitted = []
    model = ScriptedProvider(
        [read("a.txt"), edit("a.txt", "two", "2"), write("b.txt", "new\n"), "Done."]
    )
    agent = Agent(model, tools=["tool-filesystem"], directory=tmp_path, hooks=[recorder(emitted)])

    await agent.run("go")

    assert [event for event, _ in emitted] == [
        "tool:pre", "artifact:read", "tool:post",
        "tool:pre", "artifact:write", "tool:post",
        "tool:pre", "artifact:write", "tool:post",
    ]  # fmt: skip
    assert [data for event, data in emitted if event.startswith("artifact:")] == [
        {"path": "a.txt", "bytes": 8, "offset": 1, "shown_lines": 2},
        {
            "path": "a.txt",
            "kind": "modified",
            "bytes": 6,
            "lines_added": 1,
            "lines_removed": 1,
            "diff": "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
        },
        {
            "path": "b.txt",
            "kind": "created",
            "bytes": 4,
            "lines_added": 1,
            "lines_removed": 0,
            "diff": "--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+new\n",
        },
    ]


async def test_events_say_what_a_patch_did_to_each_file(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        (tmp_path / name).write_text("one\n")
    emitted: Emitted = []
    text = (
        "*** Update File: a.txt\n*** Move to: d.txt\n-one\n+1\n"
        "*** Delete File: b.txt\n*** Update File: c.txt\n-one\n+2"
    )
    script = [[read("a.txt"), read("b.txt"), read("c.txt")], apply(text), "Done."]
    agent = Agent(
        ScriptedProvider(script),
        tools=["tool-filesystem"],
        directory=tmp_path,
        hooks=[recorder(emitted)],
    )

    await agent.run("go")

    counts = {"lines_added": 1, "lines_removed": 1}
    assert [data for event, data in emitted if event == "artifact:write"] == [
        {
            "path": "d.txt",
            "old_path": "a.txt",
            "kind": "renamed",
            "bytes": 2,
            **counts,
            "diff": "--- a/a.txt\n+++ b/d.txt\n@@ -1 +1 @@\n-one\n+1\n",
        },
        {
            "path": "b.txt",
            "kind": "deleted",
            "bytes": 0,
            "lines_added": 0,
            "lines_removed": 1,
            "diff": "--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n",
        },
        {
            "path": "c.txt",
            "kind": "modified",
            "bytes": 2,
            **counts,
            "diff": "--- a/c.txt\n+++ b/c.txt\n@@ -1 +1 @@\n-one\n+2\n",
        },
    ]


async def test_each_session_reads_before_it_writes(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    script = [read("a.txt"), "Read.", edit("a.txt", "old", "new"), "Done."]
    agent = Agent(ScriptedProvider(script), tools=["tool-filesystem"], directory=tmp_path)

    await agent.run("read")
    await agent.run("edit, in another session")

    assert (tmp_path / "a.txt").read_text() == "old"

    again = ScriptedProvider(script)
    async with Agent(again, tools=["tool-filesystem"], directory=tmp_path).session() as session:
        await session.run("read")
        await session.run("edit, in the same session")

    assert (tmp_path / "a.txt").read_text() == "new"


# Holds: sink-61
async def test_what_a_sub_agent_has_read_its_parent_has_not(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    task = {"tool": "task", "arguments": {"description": "Read", "prompt": "Read it."}}
    model = ScriptedProvider([task, read("a.txt"), "Read.", edit("a.txt", "old", "new"), "Done."])
    tools = ["tool-filesystem", "tool-task"]

    result = await Agent(model, tools=tools, directory=tmp_path).run("go")

    assert "`a.txt` was not read in this session" in str(result.messages)
    assert (tmp_path / "a.txt").read_text() == "old"


async def test_a_call_sees_what_those_before_it_in_the_answer_wrote(tmp_path: Path) -> None:
    edits = [edit("a.txt", str(number), str(number + 1)) for number in range(1, 6)]
    model = ScriptedProvider([[write("a.txt", "1"), *edits], "Done."])

    await Agent(model, tools=["tool-filesystem"], directory=tmp_path).run("count")

    assert (tmp_path / "a.txt").read_text() == "6"


# Holds: sink-62
@pytest.mark.parametrize(
    "call",
    [
        write(".git/hooks/pre-commit", "#!/bin/sh\n"),
        write("conf/../.env", "KEY=1\n"),
        edit("link", "KEY=0", "KEY=1"),
        apply("*** Add File: a\n+1\n*** Add File: .github/workflows/a.yml\n+x"),
    ],
    ids=str,
)
@pytest.mark.parametrize("agrees", [True, False, None])
async def test_a_person_is_asked_about_protected_files_and_their_answer_counts(
    tmp_path: Path, call: Call, agrees: bool | None
) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / ".git/hooks").mkdir(parents=True)
    if call["tool"] == "edit_file":
        (tmp_path / ".env").write_text("KEY=0\n")
        (tmp_path / "link").symlink_to(".env")
    questions: list[tuple[str, dict[str, Any]]] = []

    def answer(question: Question) -> bool:
        questions.append((question.tool_name, question.arguments))
        return agrees or question.tool_name == "read_file"

    script = [*([read("link")] if call["tool"] == "edit_file" else []), call, "Done."]
    before = _contents(tmp_path)
    agent = Agent(
        ScriptedProvider(script),
        tools=["tool-filesystem"],
        directory=tmp_path,
        approvals=None if agrees is None else answer,
    )
    await agent.run("go")

    if agrees is not None:
        assert questions[-1] == (call["tool"], call["arguments"])
    assert (_contents(tmp_path) != before) is bool(agrees)


async def test_nobody_is_asked_about_other_files(tmp_path: Path) -> None:
    questions: list[Question] = []

    def answer(question: Question) -> bool:
        questions.append(question)
        return True

    script = [write(".env.example", "KEY=\n"), write("src/a.py", "a = 1\n"), "Done."]
    agent = Agent(
        ScriptedProvider(script), tools=["tool-filesystem"], directory=tmp_path, approvals=answer
    )
    await agent.run("go")

    assert questions == []
    assert _contents(tmp_path) == {".env.example": "KEY=\n", "src/a.py": "a = 1\n"}


# Holds: sink-62
async def test_a_yes_to_another_file_does_not_count(tmp_path: Path) -> None:
    @hook("tool:pre")
    def change(_event: str, _data: dict[str, Any]) -> HookResult:
        call = write(".env", "KEY=1\n")
        return HookResult(
            action="modify", data={"tool_name": "write_file", "tool_input": call["arguments"]}
        )

    agent = Agent(
        ScriptedProvider([write("a.txt", "x"), "Done."]),
        tools=["tool-filesystem"],
        directory=tmp_path,
        hooks=[change],
    )
    await agent.run("go")

    assert _contents(tmp_path) == {}


async def test_a_plain_session_writes_too(tmp_path: Path) -> None:
    plan: dict[str, Any] = {
        "session": {"orchestrator": "loop-streaming", "context": "context-simple"},
        "providers": [
            {"module": "provider-scripted", "config": {"script": [write("a.txt", "x"), "Done."]}}
        ],
        "tools": [{"module": "tool-filesystem", "config": {"root": str(tmp_path)}}],
        "hooks": [{"module": "hooks-guard"}],
    }
    async with AmplifierSession(plan) as session:
        assert await session.execute("go") == "Done."

    assert _contents(tmp_path) == {"a.txt": "x"}


def _contents(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}
