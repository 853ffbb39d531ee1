"""A connection to a host that is not allowed waits while a person is asked about it.

Holds: sandbox-111, sandbox-112, sandbox-113, sandbox-114, sandbox-115
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import anyio.to_thread
import pytest

from amplifier_core import ModuleCoordinator
from amplifier_core.session_capabilities import APPROVAL_POLICY, BASH_AGREED_HOSTS
from amplifier_modules.sandbox import runner as runners
from amplifier_modules.sandbox.network.rules import Allowed, Refused
from amplifier_modules.tool.context import CURRENT, PersonAnswer, ToolContext
from amplifier_modules.tools import bash
from amplifier_modules.tools.bash.agreed_hosts import AgreedHosts
from amplifier_modules.tools.bash.host_question import HostQuestion
from amplifier_modules.tools.bash.host_questions import MAX_HOSTS

sys.path.insert(0, str(Path(__file__).parents[1]))

from proxied_commands import (
    OPENED,
    PUBLIC,
    REFUSED,
    ProxiedRunner,
    connect,
    lead_to_server,
)

YES = PersonAnswer(is_yes=True)
YES_FOR_SESSION = PersonAnswer(is_yes=True, for_session=True)
NO = PersonAnswer(is_yes=False, reason="User denied", words="use the\nmirror \x1b[31m")
NO_ANSWER = PersonAnswer(is_yes=False, reason="nobody could be asked", is_answered=False)
NOT_NAMED = (
    "the host `{0}` is not among those that `network` names; to allow it, add `{0}` to that setting"
)

Answer = Callable[[], Awaitable[PersonAnswer]]


@dataclass
class Person:
    """Answers the questions of a call, and knows what was asked."""

    answers: list[PersonAnswer | Answer] = field(default_factory=list[PersonAnswer | Answer])
    asked: list[tuple[str, dict[str, Any], str]] = field(
        default_factory=list[tuple[str, dict[str, Any], str]]
    )

    async def ask(
        self,
        question: str,
        about: Any,
        _parts: Any = (),
        _continuation: Any = None,
        for_session: str = "",
        /,
    ) -> PersonAnswer:
        self.asked.append((question, dict(about), for_session))
        answer = self.answers.pop(0)
        return answer if isinstance(answer, PersonAnswer) else await answer()

    @property
    def hosts(self) -> list[str]:
        return [for_session for _, _, for_session in self.asked]


class Bash:
    """The tools of a session, and who is asked."""

    def __init__(self, coordinator: ModuleCoordinator, runner: ProxiedRunner) -> None:
        self.coordinator = coordinator
        self.runner = runner
        self.person = Person()

    async def run(self, command: str, *answers: PersonAnswer | Answer, **more: Any) -> Any:
        """Run a command whose questions are answered so; return the result."""
        self.person = Person(list(answers))
        context: ToolContext[Any] = ToolContext(
            "call", "key", self.coordinator, None, lambda _report: None, ask=self.person.ask
        )
        token = CURRENT.set(context)
        try:
            result = await self.coordinator.get("tools")["bash"].execute(
                {"command": command, **more}
            )
        finally:
            CURRENT.reset(token)
        assert result.success, result
        output: Any = result.output
        return output


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, int]]]:
    """What connections of the proxy lead to; the list has where they were to go."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield lead_to_server(monkeypatch, listener.getsockname()[1])


Mount = Callable[..., Awaitable[Bash]]


@pytest.fixture
async def begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: list[tuple[str, int]]
) -> AsyncIterator[Mount]:
    """Begin a session: `await begin(approvals=None, network=[...])`; it ends with the test."""
    opened: list[ModuleCoordinator] = []
    made: list[ProxiedRunner] = []

    def open_runner(confinement: Any) -> ProxiedRunner:
        made.append(ProxiedRunner(confinement))
        return made[-1]

    monkeypatch.setattr(runners, "open_runner", open_runner)

    async def begin(approvals: Any = "somebody", around: Any = None, **config: Any) -> Bash:
        coordinator = ModuleCoordinator(approval_system=approvals)
        opened.append(coordinator)
        if around is not None:
            coordinator.register_capability(BASH_AGREED_HOSTS, around)
        config = {"root": str(tmp_path), "keep_changes": False, "network": (), **config}
        await bash.mount(coordinator, config)
        return Bash(coordinator, made[-1])

    yield begin
    for each in opened:
        await each.cleanup()


async def test_a_connection_goes_through_after_a_yes_to_what_was_shown(
    begin: Mount, server: list[tuple[str, int]]
) -> None:
    session = await begin()
    command = connect("shop.example", 8443)
    result = await session.run(command, YES)
    assert (result["output"], result.get("edge"), result.get("note")) == (OPENED, None, None)
    assert server == [(PUBLIC, 8443)]
    about = {"host": "shop.example", "port": 8443, "command": command}
    question, *rest = session.person.asked[0]
    assert rest == [about, "shop.example:8443"]
    assert question.startswith("let a command reach `shop.example`, port 8443?\n| running: ")


async def test_after_a_no_the_answer_is_403_and_the_host_is_named(
    begin: Mount, server: list[tuple[str, int]]
) -> None:
    session = await begin()
    result = await session.run(connect("shop.example"), NO)
    assert result["output"] == REFUSED.format("shop.example")
    assert result["edge"].startswith(
        "the sandbox has refused connections: `shop.example` was not reached: a person said no:"
        " use the mirror \\x1b[31m; to allow it, add `shop.example` to the setting `network`; or "
    )
    assert server == []


async def test_many_connections_to_a_host_are_one_question(begin: Mount) -> None:
    session = await begin()
    each = connect("shop.example")
    command = " & ".join(f"({each})" for _ in range(20)) + f" & wait; {connect('cdn.example')}"
    result = await session.run(command, YES, YES)
    assert result["output"] == OPENED * 21
    assert session.person.hosts == ["shop.example:443", "cdn.example:443"]


async def test_several_hosts_are_asked_about_one_after_another(begin: Mount) -> None:
    session = await begin()
    open_questions = 0

    async def answer() -> PersonAnswer:
        nonlocal open_questions
        open_questions += 1
        assert open_questions == 1
        await anyio.lowlevel.checkpoint()
        open_questions -= 1
        return YES

    names = [f"{name}.example" for name in "abcde"]
    command = " & ".join(f"({connect(name)})" for name in names) + " & wait"
    result = await session.run(command, *[answer] * 5)
    assert result["output"] == OPENED * 5
    assert sorted(session.person.hosts) == [f"{name}:443" for name in names]


async def test_a_yes_is_for_the_command_or_for_the_session_and_a_no_for_the_session(
    begin: Mount,
) -> None:
    session = await begin()
    asked: list[list[str]] = []
    for host, answers in (
        ("a.example", [YES]),
        ("a.example", [YES_FOR_SESSION]),
        ("a.example", []),
        ("b.example", [NO]),
        ("b.example", []),
        ("c.example", [NO_ANSWER]),
        ("c.example", [YES]),
    ):
        await session.run(connect(host), *answers)
        asked.append(session.person.hosts)
    assert asked == [
        ["a.example:443"],
        ["a.example:443"],
        [],
        ["b.example:443"],
        [],
        ["c.example:443"],
        ["c.example:443"],
    ]


async def test_another_port_of_a_host_is_another_question(begin: Mount) -> None:
    session = await begin()
    await session.run(connect("a.example", 443), YES_FOR_SESSION)
    await session.run(connect("a.example", 22), NO)
    assert session.person.hosts == ["a.example:22"]


async def test_the_time_of_a_command_stands_still_while_a_person_is_asked(begin: Mount) -> None:
    session = await begin()
    holds = session.runner.holds

    async def answer() -> PersonAnswer:
        assert await anyio.to_thread.run_sync(holds.is_begun.wait, 20)
        assert (holds.begun, holds.ended) == (1, 0)
        return YES

    result = await session.run(connect("shop.example"), answer, timeout=20)
    assert result["output"] == OPENED
    assert (holds.begun, holds.ended) == (1, 1)


@pytest.mark.parametrize("network", [(), ["shop.example"]])
async def test_where_nobody_can_be_asked_a_host_is_refused_at_once(
    begin: Mount, network: Any
) -> None:
    session = await begin(approvals=None, network=network)
    expected = "off" if network == () else ("shop.example",)
    assert session.runner.confinement.network == expected
    if expected == "off":
        return
    result = await session.run(connect("evil.example"))
    assert result["output"] == REFUSED.format("evil.example")
    assert NOT_NAMED.format("evil.example") in result["edge"]
    assert (session.person.asked, session.runner.holds.begun) == ([], 0)


async def test_nobody_is_asked_in_a_mode_that_lets_nothing_change(begin: Mount) -> None:
    session = await begin(network=["shop.example"])
    policy = SimpleNamespace(lets_change=False)
    session.coordinator.register_capability(APPROVAL_POLICY, policy)
    result = await session.run(connect("evil.example"))
    assert NOT_NAMED.format("evil.example") in result["edge"]
    policy.lets_change = True
    await session.run(connect("evil.example"), YES)
    assert session.person.hosts == ["evil.example:443"]


@pytest.mark.parametrize(
    "config",
    [
        {"network": "off"},
        {"safety_profile": "strict"},
        {"safety_profile": "strict", "network": ["shop.example"]},
    ],
)
async def test_who_has_chosen_the_network_in_full_is_not_asked(
    begin: Mount, config: dict[str, Any]
) -> None:
    session = await begin(**config)
    assert session.runner.confinement.ask_about_host is None


@pytest.mark.parametrize("host", ["10.0.0.1", "localhost", "192.168.0.1.", "service.internal"])
async def test_nobody_is_asked_about_private_addresses_and_names(begin: Mount, host: str) -> None:
    session = await begin()
    result = await session.run(connect(host, 8080))
    assert "403" in result["output"]
    assert session.person.asked == []


async def test_a_yes_for_a_name_opens_no_private_address(
    begin: Mount, server: list[tuple[str, int]]
) -> None:
    session = await begin()
    for _ in range(2):
        result = await session.run(connect("private.example"), YES_FOR_SESSION)
        assert result["output"] == REFUSED.format("10.0.0.1")
        assert "10.0.0.1" in result["edge"]
    assert (session.person.asked, server) == ([], [])


async def test_a_command_that_ends_before_the_answer_withdraws_the_question(
    begin: Mount,
) -> None:
    session = await begin()
    withdrawn: list[bool] = []

    async def answer() -> PersonAnswer:
        try:
            Path(os.environ["HOME"])
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            withdrawn.append(True)
            raise
        raise AssertionError

    command = connect("shop.example").replace("read -r line", "read -t 0.2 -r line")
    result = await session.run(command, answer)
    assert withdrawn == [True]
    assert result["note"] == (
        "`shop.example` was not reached: the command ended before a person had answered; to allow"
        " it, add `shop.example` to the setting `network`"
    )
    assert (await session.run(connect("shop.example"), YES))["output"] == OPENED


async def test_a_call_that_is_cancelled_while_a_person_is_asked_ends_its_command(
    begin: Mount, tmp_path: Path
) -> None:
    session = await begin()
    os.mkfifo(tmp_path / "end")
    reading = os.open(tmp_path / "end", os.O_RDONLY | os.O_NONBLOCK)
    asked = anyio.Event()

    async def answer() -> PersonAnswer:
        asked.set()
        await anyio.sleep_forever()
        raise AssertionError

    command = f"exec 8> end; {connect('shop.example')}; sleep 1000"
    async with anyio.create_task_group() as group:
        group.start_soon(session.run, command, answer)
        await asked.wait()
        await anyio.to_thread.run_sync(session.runner.holds.is_begun.wait, 20)
        group.cancel_scope.cancel()
    with anyio.fail_after(20):
        await anyio.wait_readable(reading)
    assert os.read(reading, 1) == b""
    os.close(reading)
    assert (session.runner.holds.begun, session.runner.holds.ended) == (1, 1)
    # What waited is let go, too, and the next command is asked about anew.
    assert (await session.run(connect("shop.example"), YES))["output"] == OPENED


async def test_a_job_is_refused_while_no_call_waits_and_else_named_in_the_question(
    begin: Mount, tmp_path: Path
) -> None:
    session = await begin()
    await session.run(connect("evil.example"), run_in_background=True)
    jobs = session.coordinator.get("tools")["bash_job"]
    ended: Any = (await jobs.execute({"action": "wait", "id": "job-1"})).output
    assert ended["output"] == REFUSED.format("evil.example")
    os.mkfifo(tmp_path / "go")
    job = "read < go"
    await session.run(job, run_in_background=True)
    command = connect("shop.example")
    await session.run(command, YES)
    question, about, _ = session.person.asked[0]
    assert about == {"host": "shop.example", "port": 443, "command": command, "jobs": [job]}
    assert question.splitlines()[2] == "| in the background: `read < go`"
    await session.run("echo > go")


async def test_no_more_hosts_are_asked_about_than_a_person_answers(begin: Mount) -> None:
    session = await begin()
    command = "; ".join(connect(f"a{number}.example") for number in range(MAX_HOSTS + 1))
    result = await session.run(command, *[YES] * MAX_HOSTS)
    assert result["output"] == OPENED * MAX_HOSTS + REFUSED.format(f"a{MAX_HOSTS}.example")
    assert len(session.person.asked) == MAX_HOSTS


async def test_what_was_said_in_a_session_counts_in_its_sub_agents_and_not_the_other_way(
    begin: Mount,
) -> None:
    session = await begin()
    await session.run(connect("a.example"), YES_FOR_SESSION)
    agreed = session.coordinator.get_capability(BASH_AGREED_HOSTS)
    child = await begin(around=agreed)
    assert (await child.run(connect("a.example")))["output"] == OPENED
    await child.run(connect("b.example"), YES_FOR_SESSION)
    assert (await child.run(connect("b.example")))["output"] == OPENED
    await session.run(connect("b.example"), NO)
    assert session.person.hosts == ["b.example:443"]


def test_the_nearer_answer_counts() -> None:
    around = AgreedHosts()
    inner = AgreedHosts(around)
    around.note("a.example", 443, Allowed())
    assert inner.find("a.example", 443) == Allowed()
    assert inner.find("a.example", 80) is None
    inner.note("a.example", 443, Refused("no"))
    assert (inner.find("a.example", 443), around.find("a.example", 443)) == (
        Refused("no"),
        Allowed(),
    )


def test_a_question_shows_nothing_that_a_terminal_would_act_on() -> None:
    question = HostQuestion("xn--80ak6aa92e.example", 443, "a\x1b[2J\n" + "b" * 5000, ("c\r",) * 5)
    text = question.write()
    assert text.splitlines()[0] == "let a command reach `xn--80ak6aa92e.example`, port 443?"
    assert len(text.splitlines()) == 6
    assert len(text) < 1000
    assert all(line.isprintable() for line in text.splitlines())
    assert not HostQuestion("a" * 256, 443, "").is_readable
    assert HostQuestion("2606:4700::1", 443, "").name == "[2606:4700::1]:443"
