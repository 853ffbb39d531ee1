"""A person's yes to changes of a command that has ended, before they get into the project."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import anyio
import anyio.to_thread

from amplifier_modules.changes.asked import ChangeQuestion
from amplifier_modules.changes.shown_hash import hash_shown
from amplifier_modules.sandbox.command import CommandRunner
from amplifier_modules.tool.context import (
    AskedBefore,
    Continuation,
    PersonAnswer,
    QuestionPutOff,
    ToolContext,
    ask_person,
    find_context,
)

from .layered_runner import LayeredRunner, PendingChanges


async def ask_about_changes(
    runner: CommandRunner, result: Mapping[str, Any], notes: Collection[str]
) -> tuple[str, ...]:
    """Ask a person about changes that wait, and put into the project what they agree to.

    Args:
        runner: What has run the command.
        result: What the model reads of it otherwise, to be stored with the question.
        notes: The same.

    Returns:
        What is to be said of the changes.

    Raises:
        QuestionPutOff: The answer comes when the turn has ended; the changes are kept until then.
    """
    pending = runner.take_pending() if isinstance(runner, LayeredRunner) else None
    if pending is None:
        return ()
    try:
        pending = await anyio.to_thread.run_sync(pending.with_hunks)
        question = ChangeQuestion(pending.parts, pending.paths, pending.hunks)
        text = await anyio.to_thread.run_sync(question.write)
        continuation = await _hold(pending, {"result": dict(result), "notes": list(notes)})
        answer = await ask_person(
            text, question.describe(), parts=question.names, continuation=continuation
        )
    except QuestionPutOff:
        pending.change.leave()
        raise
    except BaseException:
        await _commit(pending, (), "the call ended before a person had answered")
        raise
    return await _commit(pending, _list_agreed(answer, pending), _find_words(answer))


async def ask_again(
    context: ToolContext[Any], before: AskedBefore, pending: PendingChanges
) -> tuple[str, ...]:
    """Ask what was asked in another process, and put into the project what the person agrees to.

    Returns:
        What is to be said of the changes.

    Raises:
        QuestionPutOff: As for `ask_about_changes`.
    """
    try:
        answer = await context.ask_again(before)
    except BaseException:
        pending.change.leave()
        raise
    return await _commit(pending, _list_agreed(answer, pending), _find_words(answer))


async def _hold(pending: PendingChanges, about: Mapping[str, Any]) -> Continuation | None:
    """Keep changes until they are answered; None where nobody could go on with them."""
    context = find_context()
    if context is None or not context.keeps_questions:
        return None

    def hold() -> Continuation | None:
        try:
            layer = pending.change.hold()
            shown = hash_shown(layer, pending.paths.values())
        except (OSError, ValueError):
            return None  # what cannot be read is asked about while the process lives
        return Continuation({**about, **pending.describe(), "layer": layer}, shown)

    return await anyio.to_thread.run_sync(hold)


async def _commit(
    pending: PendingChanges, agreed: Collection[str], why_not: str
) -> tuple[str, ...]:
    notes: tuple[str, ...] = ()
    with anyio.CancelScope(shield=True):
        notes = await anyio.to_thread.run_sync(pending.commit, agreed, why_not)
    return notes


def _find_words(answer: PersonAnswer) -> str:
    return f"the person says: {answer.words}" if answer.is_yes and answer.words else answer.reason


def _list_agreed(answer: PersonAnswer, pending: PendingChanges) -> Collection[str]:
    if not answer.is_yes:
        return ()
    return [part.name for part in pending.parts] if answer.parts is None else answer.parts


async def stop_waiting(runner: CommandRunner) -> None:
    """Have changes wait for nobody, as the call ends."""
    if isinstance(runner, LayeredRunner):
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(runner.stop_waiting)
