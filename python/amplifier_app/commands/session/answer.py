"""`amplifier-core session answer`: answers what a session asks that runs elsewhere or rests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from amplifier_app.commands.report import Report
from amplifier_app.failure import Failure
from amplifier_app.outcome import WRONG_USAGE
from amplifier_app.printable import printable_line
from amplifier_app.sessions.choice import describe_session, find_session, short_id
from amplifier_app.sessions.given_answer import GivenAnswer, find_last_answer
from amplifier_app.sessions.opening import run_on_store
from amplifier_app.sessions.process import describe_stopped, find_process
from amplifier_core.approval import is_consent

if TYPE_CHECKING:
    from amplifier_agent import Agent, Question
    from amplifier_modules.stores import SessionInfo, Store

FindAnswer: TypeAlias = Callable[[str], Awaitable[GivenAnswer | None]]
_OPTIONS = ["yes", "deny"]
_ID_CHARS = 8


def answer_session(
    report: Report,
    text: str,
    answer: str | None,
    question_id: str | None,
    folder: Path,
    entry: Mapping[str, Any] | None,
) -> None:
    """Store the answer to a question of a session.

    Raises:
        Failure: There is no such session or question, or nobody says what the answer is.
    """
    import sys

    async def answer_question(store: Store) -> list[str]:
        info = find_session(await store.sessions(), text, folder)
        agent = make_agent(store)
        questions = await agent.questions(info.id)
        await _check_unanswered(store, info, questions, question_id)
        question = _choose(questions, question_id, describe_session(info))
        if answer is not None:
            given = read_answer(answer)
        elif (said := await ask_here(question, partial(find_given, store, info.id))) is not None:
            given = said
        else:
            return []  # the terminal says who was faster
        try:
            await agent.answer(info.id, question.id, given)
        except (LookupError, ValueError) as error:
            await _check_unanswered(store, info, [], question.id)
            raise Failure(str(error.args[0])) from None
        lines = [f"{'agreed' if given is True else 'denied'}: {describe_session(info)}"]
        if answer is not None:
            lines.append(f"the question was: {next(describe_questions([question]))}")
        process = find_process(info)
        if process is None:
            lines.append(f"`amplifier-core --resume {short_id(info)}` goes on, or with `--bg`")
        elif stopped := describe_stopped(process, short_id(info)):
            lines.append(stopped)
        return lines

    if answer is None and not (sys.stdin.isatty() and sys.stderr.isatty()):
        message = "no answer is given, and nobody can be asked"
        raise Failure(message, hint="say `yes`, `no` or why not", exit_code=WRONG_USAGE)
    lines = run_on_store(answer_question, entry)
    report.write_lines(lines[:1])
    for line in lines[1:]:
        report.say_aside(line)


def make_agent(store: Store) -> Agent[None]:
    """Return an agent that knows the questions of a store, and asks no model."""
    from amplifier_agent import Agent, ScriptedProvider

    return Agent(ScriptedProvider([]), store=store)


def read_answer(text: str) -> bool | str:
    """Return an answer as an agent takes it: words deny, and go to the model."""
    words = text.strip()
    if is_consent(words):
        return True
    return words if len(words.split()) > 1 else False


async def find_given(store: Store, session_id: str, question_id: str) -> GivenAnswer | None:
    """Return the answer to a question of a session; None while there is none."""
    last = await find_last_answer(store, session_id, question_id)
    return None if last is None else last[0]


async def ask_here(question: Question, find_answer: FindAnswer) -> bool | str | None:
    """Ask the person at this terminal what a session asks elsewhere; None if another was faster.

    Args:
        question: What is asked.
        find_answer: Finds the answer of another process to the question of an id.
    """
    from amplifier_app.approval import TerminalApproval
    from amplifier_core.approval import ASKED_CALL, AskedCall

    is_given = False

    async def look(asked: AskedCall) -> GivenAnswer | None:
        nonlocal is_given
        given = await find_answer(asked.question_id)
        is_given = given is not None
        return given

    call = AskedCall(question.id, question.tool_name, dict(question.arguments))
    token = ASKED_CALL.set(call)
    try:
        left = question.timeout or float("inf")
        asks = TerminalApproval(elsewhere=look)
        option = await asks.request_approval(question.action, _OPTIONS, left, "deny")
    finally:
        ASKED_CALL.reset(token)
    if is_given:
        return None
    return True if is_consent(option) else call.reply.words or False


def describe_questions(questions: list[Question]) -> Iterator[str]:
    """Yield a line for each question."""
    for each in questions:
        yield f"{printable_line(each.id)[:_ID_CHARS]}  {printable_line(each.action, 100)}"


async def _check_unanswered(
    store: Store, info: SessionInfo, questions: list[Question], id: str | None
) -> None:
    """Refuse an answer to a question that has one already.

    Raises:
        Failure: It has.
    """
    if any(each.id.startswith(id or "") for each in questions):
        return
    if (last := await find_last_answer(store, info.id, id)) is not None:
        given, asked = last
        which = "the last one" if id is None else "it"
        message = f"no question of {describe_session(info)} waits for an answer"
        raise Failure(f"{message}: {which} was {given.describe(asked)}")


def _choose(questions: list[Question], id: str | None, named: str) -> Question:
    if id is not None:
        questions = [each for each in questions if each.id.startswith(id)]
    if len(questions) == 1:
        return questions[0]
    if not questions:
        raise Failure(f"no question of {named} waits for an answer", exit_code=WRONG_USAGE)
    listed = "; ".join(describe_questions(questions))
    message = f"{len(questions)} questions of {named} wait: {listed}"
    raise Failure(message, hint="name one by `--question ID`", exit_code=WRONG_USAGE)
