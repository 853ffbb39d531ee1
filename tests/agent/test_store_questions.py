"""Questions of stored sessions: they wait for an answer from any process, and keep their ids."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from copied_store import CopiedStore

from amplifier_agent import Agent, QuestionAsked, Result, ScriptedProvider, hook, tool
from amplifier_core import HookResult
from amplifier_core.models import ApprovalResponse
from amplifier_core.world import World, use
from amplifier_modules.stores import UnknownSessionError
from amplifier_modules.stores.sqlite import SqliteStore


def store_in(folder: Path) -> dict[str, Any]:
    return {"module": "store-sqlite", "config": {"folder": str(folder)}}


class Desk:
    """A tool that needs approval, one that does not, and what they did."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.did: list[str] = []

        @tool(needs_approval=True)
        def send(to: str) -> str:
            """Send the report."""
            self.did.append(f"sent to {to}")
            return f"sent to {to}"

        @tool
        async def look() -> str:
            """Look around."""
            await anyio.lowlevel.checkpoint()
            self.did.append("looked")
            return "nothing there"

        self.tools = [send, look]

    def agent(self, *script: Any, **options: Any) -> Agent[Any]:
        given = {"tools": self.tools, "approvals": "wait", "store": store_in(self.folder)}
        return Agent(ScriptedProvider(script), **{**given, **options})


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": name, "arguments": arguments}


SEND = call("send", to="Ann")
BOTH = [SEND, call("look")]
ASKED = "run `send`?\n| `to`: `Ann`"


class Moment(World):
    """So many seconds after a moment."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def time(self) -> float:
        return 1_800_000_000 + self.seconds


async def wait_for_question(session: Any) -> None:
    while not session.questions:
        await anyio.lowlevel.checkpoint()


async def go_on_without(session: Any) -> Result[Any]:
    """Go on with a turn, and agree to nothing that it asks."""
    results: list[Result[Any]] = []

    async def go_on() -> None:
        results.append(await session.resume_turn())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(go_on)
        while not results:
            await anyio.lowlevel.checkpoint()
            for each in session.questions:
                session.answer(each.id, False)
    return results[0]


def tell_results(result: Result[Any]) -> list[tuple[str, str]]:
    return [(each["name"], each["content"]) for each in result.messages if each["role"] == "tool"]


# Holds: store-35
async def test_a_run_ends_with_its_question_and_goes_on_with_the_answer(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    asked = await desk.agent(BOTH).run("Send the report.")
    assert (asked.status, asked.reason) == (
        "awaiting_approval",
        "a call of `send` must be approved",
    )
    (question,) = asked.questions
    assert (question.tool_name, question.arguments, question.action) == (
        "send",
        {"to": "Ann"},
        ASKED,
    )
    assert desk.did == ["looked"]
    agent = desk.agent("Sent.")
    assert await agent.questions(asked.session_id) == [question]
    await agent.answer(asked.session_id, question.id, True)
    assert await agent.questions(asked.session_id) == []
    async with agent.session(session_id=asked.session_id) as session:
        assert session.has_open_turn
        result = await session.resume_turn()
    assert (result.status, result.text, result.questions) == ("completed", "Sent.", ())
    assert tell_results(result) == [("look", "nothing there"), ("send", "sent to Ann")]
    assert desk.did == ["looked", "sent to Ann"]


async def test_a_stream_of_an_agent_ends_with_its_question(tmp_path: Path) -> None:
    items = [each async for each in Desk(tmp_path).agent(SEND).stream("Send the report.")]
    (asked,) = [each.question for each in items if isinstance(each, QuestionAsked)]
    result = items[-1]
    assert isinstance(result, Result)
    assert (result.status, [each.id for each in result.questions]) == (
        "awaiting_approval",
        [asked.id],
    )


# Holds: store-35
async def test_a_turn_waits_in_its_session_until_that_is_closed(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    results: list[Result[Any]] = []
    async with anyio.create_task_group() as tasks, desk.agent(BOTH).session() as session:

        async def run() -> None:
            results.append(await session.run("Send the report."))

        tasks.start_soon(run)
        await wait_for_question(session)
        (question,) = session.questions
    (asked,) = results
    assert (asked.status, asked.questions) == ("awaiting_approval", (question,))
    again = desk.agent("Then not.").session(session_id=session.id)
    async with again, anyio.create_task_group() as tasks:

        async def go_on() -> None:
            results.append(await again.resume_turn())

        tasks.start_soon(go_on)
        await wait_for_question(again)
        assert [each.id for each in again.questions] == [question.id]
        again.answer(question.id, "write a letter instead")
    assert results[1].text == "Then not."
    denial = "Denied by hook: User denied, and says: write a letter instead"
    assert tell_results(results[1]) == [("look", "nothing there"), ("send", denial)]
    assert desk.did == ["looked"]


async def test_closed_again_and_again_a_question_is_the_same(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    asked = await desk.agent([SEND, call("send", to="Bob")]).run("Send the reports.")
    ids = [each.id for each in asked.questions]
    assert len(set(ids)) == 2
    for _ in range(3):
        async with anyio.create_task_group() as tasks:
            results: list[Result[Any]] = []
            async with desk.agent().session(session_id=asked.session_id) as session:

                async def go_on(session: Any = session, results: Any = results) -> None:
                    results.append(await session.resume_turn())

                tasks.start_soon(go_on)
                await wait_for_question(session)
        assert {each.id for each in results[0].questions} == set(ids)
    agent = desk.agent("Both.")
    to = {each.arguments["to"]: each.id for each in asked.questions}
    await agent.answer(asked.session_id, to["Bob"], True)
    denial = ApprovalResponse(approved=False, reason="gone")
    await agent.answer(asked.session_id, to["Ann"], denial)
    async with agent.session(session_id=asked.session_id) as session:
        result = await session.resume_turn()
    told = "Denied by hook: User denied, and says: gone"
    assert tell_results(result) == [("send", told), ("send", "sent to Bob")]


# Holds: store-36
async def test_another_process_answers_a_turn_that_waits(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    async with desk.agent(SEND, "Sent.").session() as session, anyio.create_task_group() as tasks:
        results: list[Result[Any]] = []

        async def run() -> None:
            results.append(await session.run("Send the report."))

        tasks.start_soon(run)
        await wait_for_question(session)
        program = (
            "import asyncio, sys\n"
            "from amplifier_agent import Agent\n"
            "store = {'module': 'store-sqlite', 'config': {'folder': sys.argv[1]}}\n"
            "agent = Agent('demo', store=store)\n"
            "(question,) = asyncio.run(agent.questions(sys.argv[2]))\n"
            "asyncio.run(agent.answer(sys.argv[2], question.id, True))\n"
        )
        command = [sys.executable, "-c", program, str(tmp_path), session.id]
        await anyio.to_thread.run_sync(lambda: subprocess.run(command, check=True))
    assert (results[0].text, desk.did) == ("Sent.", ["sent to Ann"])


# Holds: store-36
@pytest.mark.parametrize("answer", [True, "no"])
async def test_an_answer_that_was_acknowledged_survives_a_crash(
    tmp_path: Path, answer: Any
) -> None:
    desk = Desk(tmp_path / "now")
    store = CopiedStore(desk.folder)
    session = desk.agent(SEND, "Over.", store=store).session(session_id="chat")
    async with session, anyio.create_task_group() as tasks:
        tasks.start_soon(session.run, "Send the report.")
        await wait_for_question(session)
        (question,) = session.questions
        unanswered = store.copy()
        session.answer(question.id, answer)
        answered = store.copy()
    await store.close()
    expected = ["sent to Ann"] if answer is True else []
    assert desk.did == expected
    ways: set[str] = set()
    for number, copy in enumerate(store.copies[unanswered:]):
        later = Desk(copy)
        if number <= 1:  # the row of the answer may not be there yet
            (waiting,) = await later.agent().questions("chat")
            assert waiting.id == question.id
            await later.agent().answer("chat", waiting.id, answer)
        async with later.agent("Over.").session(session_id="chat") as session:
            if not session.has_open_turn:
                continue
            result = await go_on_without(session)
        assert result.text == "Over."
        ((name, text),) = tell_results(result)
        assert name == "send"
        if "outcome of this call is unknown" in text:
            ways.add("unknown")
            assert later.did == []  # it had started
        else:
            ways.add("ran" if later.did else "known")
            assert text.startswith("sent to Ann" if answer is True else "Denied")
            assert later.did in ([], expected)
    assert answered > unanswered
    assert ways == ({"ran", "unknown", "known"} if answer is True else {"known"})


def crash_in_a_tool(folder: Path) -> Desk:
    """Return what there is when a process has ended while its tool ran."""
    desk = Desk(folder / "now")

    @tool
    def pay(amount: int) -> str:
        """Pay."""
        if not desk.did:
            shutil.copytree(desk.folder, folder / "crashed")
        desk.did.append(f"paid {amount}")
        return "paid"

    desk.tools.append(pay)
    return desk


# Holds: store-42
@pytest.mark.parametrize("answer", [True, "It was paid.", False, None])
async def test_a_person_may_allow_a_call_of_unknown_outcome_to_run_again(
    tmp_path: Path, answer: bool | str | None
) -> None:
    desk = crash_in_a_tool(tmp_path)
    async with desk.agent(call("pay", amount=1), "Paid.").session(session_id="chat") as session:
        await session.run("Pay 1.")
    desk.folder = tmp_path / "crashed"
    asked: list[str] = []

    def ask(question: Any) -> bool | str:
        asked.append(question.action)
        assert answer is not None
        return answer

    approvals = {} if answer is None else {"approvals": ask}
    tools = desk.tools[1:] if answer is None else desk.tools
    agent = desk.agent("Well.", **{"approvals": None, "tools": tools, **approvals})
    async with agent.session(session_id="chat") as session:
        result = await session.resume_turn()
    warning = "it may have had its effect already: the process ended while it ran. Run it again?"
    assert asked == ([] if answer is None else [f"{warning}\nrun `pay`?\n| `amount`: 1"])
    assert desk.did == ["paid 1"] * (2 if answer is True else 1)
    ((_, text),) = tell_results(result)
    if answer is True:
        assert text == "paid"
        return
    message = next(each for each in result.messages if each["role"] == "tool")
    assert message["metadata"]["outcome"] == "unknown"
    assert "outcome of this call is unknown" in text
    assert text.endswith("says: It was paid.") is (answer == "It was paid.")


# Holds: store-42
async def test_the_question_whether_to_run_again_waits_for_any_process(tmp_path: Path) -> None:
    desk = crash_in_a_tool(tmp_path)
    async with desk.agent(call("pay", amount=1), "Paid.").session(session_id="chat") as session:
        await session.run("Pay 1.")
    desk.folder = tmp_path / "crashed"
    async with anyio.create_task_group() as tasks, desk.agent().session(session_id="chat") as s:
        tasks.start_soon(s.resume_turn)
        await wait_for_question(s)
    agent = desk.agent("Paid.")
    (question,) = await agent.questions("chat")
    await agent.answer("chat", question.id, True)
    async with agent.session(session_id="chat") as session:
        result = await session.resume_turn()
    assert (result.status, tell_results(result)) == ("completed", [("pay", "paid")])
    assert desk.did == ["paid 1", "paid 1"]


async def test_a_question_is_answered_once(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    agent = desk.agent(SEND)
    asked = await agent.run("Send the report.")
    (question,) = asked.questions
    await agent.answer(asked.session_id, question.id, False)
    gone = f"no question `{question.id}` of session `{asked.session_id}` waits for an answer"
    for wrong in (question.id, "unknown"):
        with pytest.raises(LookupError, match=gone.replace(question.id, wrong)):
            await agent.answer(asked.session_id, wrong, True)
    with pytest.raises(UnknownSessionError):
        await agent.answer("nowhere", question.id, True)
    with pytest.raises(ValueError, match="a text denies"):
        await agent.answer(asked.session_id, question.id, "yes")


# Holds: store-37
async def test_a_question_whose_time_has_passed_is_denied(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    with use(Moment(0)):
        asked = await desk.agent(SEND, approval_timeout=60).run("Send the report.")
    (question,) = asked.questions
    assert question.timeout == 60
    with use(Moment(61)):
        agent = desk.agent("Too late.", approval_timeout=60)
        assert await agent.questions(asked.session_id) == []
        with pytest.raises(LookupError, match="has passed, which denies it"):
            await agent.answer(asked.session_id, question.id, True)
        async with agent.session(session_id=asked.session_id) as session:
            result = await session.resume_turn()
    assert tell_results(result) == [
        ("send", f"Denied by hook: Approval timeout - denied by default: {ASKED}")
    ]
    assert desk.did == []


# Holds: store-38
async def test_an_answer_counts_only_for_what_was_shown(tmp_path: Path) -> None:
    def redirect(to: str) -> Any:
        @hook("tool:pre")
        def change(_event: str, data: dict[str, Any]) -> HookResult:
            return HookResult(action="modify", data={**data, "tool_input": {"to": to}})

        return change

    desk = Desk(tmp_path)
    asked = await desk.agent(SEND).run("Send the report.")
    agent = desk.agent(hooks=[redirect("Eve")])
    await agent.answer(asked.session_id, asked.questions[0].id, True)
    async with anyio.create_task_group() as tasks:
        results: list[Result[Any]] = []
        async with agent.session(session_id=asked.session_id) as session:

            async def go_on() -> None:
                results.append(await session.resume_turn())

            tasks.start_soon(go_on)
            await wait_for_question(session)
    (question,) = results[0].questions
    assert question.id != asked.questions[0].id
    assert question.arguments == {"to": "Eve"}
    assert desk.did == []


# Holds: store-38
async def test_a_denial_holds_where_no_hook_asks_any_more(tmp_path: Path) -> None:
    @hook("tool:pre")
    def ask(_event: str, data: dict[str, Any]) -> HookResult | None:
        if data["tool_name"] != "look":
            return None
        return HookResult(action="ask_user", approval_prompt="look around?")

    desk = Desk(tmp_path)
    asked = await desk.agent(call("look"), hooks=[ask]).run("Look.")
    agent = desk.agent("Well.")
    await agent.answer(asked.session_id, asked.questions[0].id, False)
    session = agent.session(session_id=asked.session_id)
    async with anyio.create_task_group() as tasks, session:
        tasks.start_soon(session.resume_turn)
        await wait_for_question(session)
        assert session.questions[0].action == "run `look`?"
    assert desk.did == []


async def test_a_new_prompt_ends_the_question(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    asked = await desk.agent(SEND).run("Send the report.")
    agent = desk.agent("All right.")
    await agent.answer(asked.session_id, asked.questions[0].id, True)
    async with agent.session(session_id=asked.session_id) as session:
        result = await session.run("Leave it.")
        assert not session.has_open_turn
    assert tell_results(result) == [("send", "Not run: the process ended before this call began.")]
    assert desk.did == []
    store = SqliteStore(folder=str(tmp_path))
    assert await store.inbox(asked.session_id) == []
    await store.close()


async def test_what_cannot_wait_for_a_process_is_not_answered_in_time(tmp_path: Path) -> None:
    @hook("prompt:submit")
    def ask(_event: str, _data: dict[str, Any]) -> HookResult:
        return HookResult(action="ask_user", approval_prompt="may it?")

    result = await Desk(tmp_path).agent("Hm.", hooks=[ask]).run("Do it.")
    assert result.status == "denied"
    assert "Approval timeout - denied by default: may it?" in str(result.reason)


async def test_a_closed_session_cancels_what_waits_without_a_store(tmp_path: Path) -> None:
    results: list[Result[Any]] = []
    agent = Desk(tmp_path).agent(SEND, store=None)
    async with anyio.create_task_group() as tasks, agent.session() as session:

        async def run() -> None:
            results.append(await session.run("Send the report."))

        tasks.start_soon(run)
        await wait_for_question(session)
    assert [each.status for each in results] == ["cancelled"]


# Holds: store-35
async def test_a_function_is_asked_again_about_what_a_crash_left_open(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "now")
    ids: list[str] = []

    def crash_and_agree(question: Any) -> bool:
        ids.append(question.id)
        shutil.copytree(desk.folder, tmp_path / "crashed", dirs_exist_ok=True)
        return True

    options = {"approvals": crash_and_agree}
    async with desk.agent(SEND, "Sent.", **options).session(session_id="chat") as session:
        await session.run("Send the report.")
    later = Desk(tmp_path / "crashed")
    later.folder = tmp_path / "again"
    shutil.copytree(tmp_path / "crashed", later.folder)
    async with later.agent("Sent.", **options).session(session_id="chat") as session:
        result = await session.resume_turn()
    assert (result.text, later.did) == ("Sent.", ["sent to Ann"])
    assert ids[0] == ids[1]
