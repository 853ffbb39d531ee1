"""What a model runs by the tools of `tool-bash`, in agents and in plain sessions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from amplifier_agent import Agent, Question, ScriptedProvider, hook
from amplifier_core import AmplifierSession, HookResult
from amplifier_modules.sandbox import runner as runners
from amplifier_modules.sandbox.command import Tier
from amplifier_modules.sandbox.unconfined import UnconfinedRunner

Call = dict[str, Any]
FREE = {
    "module": "tool-bash",
    "config": {"safety_profile": "unrestricted", "keep_changes": False},
}


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def caches(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("caches")))


class Sandbox(UnconfinedRunner):
    """Says that it is one."""

    tier = Tier.NAMESPACES


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runners, "open_runner", lambda _confinement: Sandbox())


@pytest.fixture
def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runners, "open_runner", lambda _confinement: UnconfinedRunner())


def bash(command: str, **more: Any) -> Call:
    return {"tool": "bash", "arguments": {"command": command, **more}}


def job(action: str, **more: Any) -> Call:
    return {"tool": "bash_job", "arguments": {"action": action, **more}}


def results(model: ScriptedProvider) -> list[str]:
    """What the model has read of its calls."""
    return [str(each.content) for each in model.requests[-1].messages if each.role == "tool"]


async def test_an_agent_runs_commands_in_its_folder(tmp_path: Path) -> None:
    model = ScriptedProvider(
        [[bash("mkdir a; cd a"), bash("echo hi > b; pwd")], bash("cat b"), "Done."]
    )
    result = await Agent(model, tools=["tool-filesystem", FREE], directory=tmp_path).run("go")
    assert result.text == "Done."
    assert (tmp_path / "a/b").read_text() == "hi\n"
    assert f"{tmp_path}/a" in results(model)[1]
    assert "hi" in results(model)[2]


# Holds: sandbox-46
async def test_without_a_sandbox_and_a_person_only_what_reads_runs(
    tmp_path: Path, no_sandbox: None
) -> None:
    model = ScriptedProvider([bash("echo hi | wc -c"), bash("touch a"), "Done."])
    await Agent(model, tools=["tool-filesystem", "tool-bash"], directory=tmp_path).run("go")
    ran, denied = results(model)
    assert '"output": "3\\n"' in ran
    assert "No approval system available" in denied
    assert os.listdir(tmp_path) == []


# Holds: sandbox-45, sandbox-46
@pytest.mark.parametrize("agrees", [True, False, None])
@pytest.mark.parametrize("leaves", [True, False])
async def test_a_person_sees_the_command_and_why_and_their_answer_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agrees: bool | None, leaves: bool
) -> None:
    out = {"sandbox": "none", "reason": "it needs the network"} if leaves else {}
    runner = Sandbox() if leaves else UnconfinedRunner()
    monkeypatch.setattr(runners, "open_runner", lambda _confinement: runner)
    asked: list[Question] = []

    def answer(question: Question) -> bool:
        asked.append(question)
        return bool(agrees)

    model = ScriptedProvider([bash("touch a", **out), "Done."])
    approvals = None if agrees is None else answer
    agent = Agent(model, tools=["tool-bash"], directory=tmp_path, approvals=approvals)
    await agent.run("go")
    assert os.listdir(tmp_path) == (["a"] if agrees else [])
    if agrees is None:
        return
    assert [(each.tool_name, each.arguments) for each in asked] == [
        ("bash", {"command": "touch a", **out})
    ]
    assert "`touch a`" in asked[0].action
    assert ("`it needs the network`" in asked[0].action) is leaves


# Holds: sandbox-45
async def test_a_hook_cannot_lead_a_command_out_of_the_sandbox(
    tmp_path: Path, sandbox: None
) -> None:
    @hook("tool:pre")
    def change(_event: str, data: dict[str, Any]) -> HookResult:
        out = {**data["tool_input"], "sandbox": "none", "reason": "x"}
        return HookResult(action="modify", data={**data, "tool_input": out})

    model = ScriptedProvider([bash("touch a"), "Done."])
    await Agent(model, tools=["tool-bash"], directory=tmp_path, hooks=[change]).run("go")
    assert "a person must agree to it, and nobody has" in results(model)[0]
    assert os.listdir(tmp_path) == []


# Holds: sandbox-47
async def test_a_command_sees_what_the_calls_before_it_wrote(tmp_path: Path) -> None:
    write = {"tool": "write_file", "arguments": {"path": "a", "content": "1"}}
    edits = [{"old": "12", "new": "3"}]
    calls = [
        write,
        bash("printf 2 >> a"),
        {"tool": "read_file", "arguments": {"path": "a"}},
        {"tool": "edit_file", "arguments": {"path": "a", "edits": edits}},
        bash("printf 4 >> a"),
    ]
    model = ScriptedProvider([calls, "Done."])
    await Agent(model, tools=["tool-filesystem", FREE], directory=tmp_path).run("go")
    assert (tmp_path / "a").read_text() == "34"


# Holds: sandbox-48
async def test_a_sub_agent_has_jobs_of_its_own_that_end_with_it(tmp_path: Path) -> None:
    background = {"run_in_background": True}
    emitted: list[tuple[str, Any]] = []

    @hook("job:start", "job:end", "task:end")
    def note(event: str, data: dict[str, Any]) -> None:
        emitted.append((event, data.get("job_id")))

    model = ScriptedProvider(
        [
            bash("sleep 1000", **background),
            {"tool": "task", "arguments": {"description": "Look", "prompt": "Look."}},
            # The sub-agent.
            job("list"),
            job("kill", id="job-1"),
            bash("sleep 2000", **background),
            "Seen.",
            # The parent.
            job("list"),
            "Done.",
        ]
    )
    await Agent(model, tools=[FREE, "tool-task"], directory=tmp_path, hooks=[note]).run("go")
    of_sub_agent = [str(each.content) for each in model.requests[5].messages if each.role == "tool"]
    assert '"jobs": []' in of_sub_agent[0]
    assert "no job `job-1` (there are: none)" in of_sub_agent[1]
    listed = results(model)[-1]
    assert ("sleep 1000" in listed, "sleep 2000" in listed) == (True, False)
    assert '"status": "running"' in listed
    assert emitted == [
        ("job:start", "job-1"),
        ("job:start", "job-1"),
        ("job:end", "job-1"),
        ("task:end", None),
        ("job:end", "job-1"),
    ]


# Holds: sandbox-44
async def test_a_turn_that_is_stopped_ends_its_command_and_tells_what_there_was(
    tmp_path: Path, anyio_backend_name: str
) -> None:
    os.mkfifo(tmp_path / "end")
    end = os.open(tmp_path / "end", os.O_RDONLY | os.O_NONBLOCK)
    shown = anyio.Event()

    @hook("tool:progress")
    def note(_event: str, data: dict[str, Any]) -> None:
        if data["message"].endswith("half\n"):
            shown.set()

    model = ScriptedProvider([bash("exec 8> end; echo half; sleep 1000"), "Done."])
    agent = Agent(model, tools=[FREE], directory=tmp_path, hooks=[note])
    try:
        async with agent.session() as session:
            messages: list[Any] = []

            async def run() -> None:
                messages.extend((await session.run("go")).messages)

            with anyio.fail_after(20):
                async with anyio.create_task_group() as group:
                    group.start_soon(run)
                    await shown.wait()
                    session.cancel()
                await anyio.wait_readable(end)
            assert os.read(end, 1) == b""
    finally:
        os.close(end)
    said = str(messages)
    if anyio_backend_name == "asyncio":
        assert "half" in said
        assert "killed" in said


async def test_output_is_shown_as_it_comes(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    seen: list[str] = []
    shown = anyio.Event()

    @hook("tool:progress")
    def note(_event: str, data: dict[str, Any]) -> None:
        seen.append(data["message"])
        shown.set()

    async def answer() -> None:
        await shown.wait()
        async with await anyio.open_file(tmp_path / "go", "w") as go:
            await go.write("on\n")

    model = ScriptedProvider([bash("echo one; cat go; seq 10000"), "Done."])
    agent = Agent(model, tools=[FREE], directory=tmp_path, hooks=[note])
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(answer)
            await agent.run("go")
    assert seen[0] == "one\n"
    assert seen[-1].endswith("9999\n10000\n")
    assert max(len(each) for each in seen) <= 2000


async def test_a_plain_session_runs_commands_too(tmp_path: Path) -> None:
    plan: dict[str, Any] = {
        "session": {"orchestrator": "loop-basic", "context": "context-simple"},
        "providers": [
            {"module": "provider-scripted", "config": {"script": [bash("touch a"), "Done."]}}
        ],
        "tools": [{**FREE, "config": {**FREE["config"], "root": str(tmp_path)}}],
        "hooks": [{"module": "hooks-guard"}],
    }
    async with AmplifierSession(plan) as session:
        assert await session.execute("go") == "Done."
    assert os.listdir(tmp_path) == ["a"]
