"""A port of a job that a person reaches after a yes, as long as the job runs."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import pytest

from amplifier_agent import Agent, Question, ScriptedProvider
from amplifier_modules.sandbox.command import Tier
from amplifier_modules.sandbox.tiers import find_tier
from amplifier_modules.tool.context import CURRENT, ToolContext

SERVER = """
import socket
with socket.create_server(("127.0.0.1", 0)) as server:
    print(server.getsockname()[1], file=open("port", "w"), flush=True)
    print("listening", file=open("begun", "w"), flush=True)
    while True:
        client, _ = server.accept()
        client.sendall(b"hello")
        client.close()
"""


@contextmanager
def agreed(tool: str = "bash_job") -> Iterator[None]:
    """Run calls of a tool as one that a person has agreed to."""
    context: Any = ToolContext("1", "1", None, None, lambda _report: None, approved=tool)
    token = CURRENT.set(context)
    try:
        yield
    finally:
        CURRENT.reset(token)


class FakeForward:
    def __init__(self, port: int) -> None:
        self.port = port
        self.is_closed = False

    def is_answered(self) -> bool:
        return not self.is_closed

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def forwarding(fake: Any) -> Any:
    """A runner that says that it forwards ports."""

    class Runner(fake):
        def __init__(self) -> None:
            super().__init__()
            self.forwards: list[FakeForward] = []

        def check_forward(self, port: int) -> None:
            pass

        def forward_port(self, port: int) -> FakeForward:
            self.forwards.append(FakeForward(port + 1))
            return self.forwards[-1]

    return Runner()


# Holds: sandbox-82
async def test_a_port_is_forwarded_only_after_a_yes_to_exactly_that(
    mount: Any, forwarding: Any
) -> None:
    tools = await mount(forwarding)
    await tools.run("sleep 1000", run_in_background=True)
    asked = {"action": "forward", "id": "job-1", "port": 8000}
    refused = (
        "NotApprovedError",
        "the port was not forwarded: a person must agree to it, and nobody has",
    )
    assert tools.job.needs_approval(asked) is True
    assert await tools.ask(**asked) == refused
    with agreed("bash"):
        assert await tools.ask(**asked) == refused
    assert forwarding.forwards == []
    with agreed():
        forwarded = {"id": "job-1", "port": 8000, "url": "http://127.0.0.1:8001/"}
        assert await tools.ask(**asked) == await tools.ask(**asked) == forwarded
    assert len(forwarding.forwards) == 1
    for other in ("list", "output", "wait", "kill"):
        assert tools.job.needs_approval({**asked, "action": other}) is False


# Holds: sandbox-81
@pytest.mark.parametrize("ends", ["job", "session"])
async def test_a_forward_ends_with_its_job_and_its_session(
    mount: Any, forwarding: Any, ends: str
) -> None:
    tools = await mount(forwarding)
    await tools.run("sleep 1000", run_in_background=True)
    with agreed():
        await tools.ask("forward", id="job-1", port=8000)
    if ends == "job":
        await tools.ask("kill", id="job-1")
    else:
        await tools.coordinator.cleanup()
    [forward] = forwarding.forwards
    assert forward.is_closed
    with agreed():
        assert await tools.ask("forward", id="job-1", port=8001) == (
            "ForwardError",
            "port 8001 cannot be forwarded: job `job-1` has ended",
        )


# Holds: sandbox-84
async def test_nobody_is_asked_about_what_cannot_be_forwarded(tools: Any) -> None:
    await tools.run("sleep 1000", run_in_background=True)
    direct = (
        "port 8000 needs no forward: the job runs without a sandbox, and is reached directly at"
        " http://127.0.0.1:8000/"
    )
    for asked, error in (
        ({"id": "job-1", "port": 8000}, ("ForwardError", direct)),
        ({"id": "job-1"}, ("invalid_arguments", "`port` is missing; `forward` needs it")),
        ({"port": 8000}, ("invalid_arguments", "`id` is missing; `forward` needs it")),
        (
            {"id": "job-2", "port": 8000},
            ("UnknownJobError", "no job `job-2` (there are: `job-1`)"),
        ),
    ):
        assert tools.job.needs_approval({"action": "forward", **asked}) is False
        assert await tools.ask("forward", **asked) == error


def read_all(port: int) -> bytes:
    with socket.create_connection(("127.0.0.1", port)) as client:
        return b"".join(iter(lambda: client.recv(1024), b""))


# Holds: sandbox-80, sandbox-81, sandbox-82, sandbox-85
async def test_a_server_in_a_job_is_reached_while_it_runs(
    mount: Any, started: Any, tmp_path: Path
) -> None:
    if find_tier().tier is not Tier.NAMESPACES or find_tier().bubblewrap is not None:
        pytest.skip("here no port of a command can be forwarded")
    tools = await mount()
    project = tmp_path / "project"
    (project / "serve.py").write_text(SERVER)
    await tools.run("mkfifo begun")
    await tools.run(f"exec {sys.executable} serve.py", run_in_background=True)
    assert await started(project / "begun") == "listening"
    port = int((project / "port").read_text())
    assert (await tools.ask("output", id="job-1"))["listens_on"] == [port]
    with agreed():
        forwarded = await tools.ask("forward", id="job-1", port=port)
        here = urlsplit(forwarded["url"]).port
        assert forwarded == {"id": "job-1", "port": port, "url": f"http://127.0.0.1:{here}/"}
        assert await anyio.to_thread.run_sync(read_all, here) == b"hello"
        other = await tools.ask("forward", id="job-1", port=1)
        assert other["note"] == "nothing listens at port 1 of the job yet"
    await tools.ask("kill", id="job-1")
    with pytest.raises(ConnectionRefusedError):
        read_all(here)


# Holds: sandbox-82
@pytest.mark.parametrize("answer", [True, False, None])
async def test_an_agent_asks_a_person_about_a_port(
    forwarding: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: bool | None
) -> None:
    from amplifier_modules.sandbox import runner as runners

    monkeypatch.setattr(runners, "open_runner", lambda _confinement: forwarding)
    model = ScriptedProvider(
        [
            {"tool": "bash", "arguments": {"command": "sleep 1000", "run_in_background": True}},
            {
                "tool": "bash_job",
                "arguments": {"action": "forward", "id": "job-1", "port": 8000},
            },
            "Done.",
        ]
    )
    asked: list[dict[str, Any]] = []

    def answer_question(question: Question) -> bool:
        asked.append(dict(question.arguments))
        return bool(answer)

    approvals = None if answer is None else answer_question
    await Agent(model, tools=["tool-bash"], approvals=approvals, directory=tmp_path).run("go")
    said = str([each.content for each in model.requests[-1].messages if each.role == "tool"][-1])
    assert ("http://127.0.0.1:8001/" in said) is bool(answer)
    assert len(forwarding.forwards) == bool(answer)
    if answer is not None:
        assert asked == [{"action": "forward", "id": "job-1", "port": 8000}]
