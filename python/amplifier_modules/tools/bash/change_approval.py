"""A person's yes to changes of a command that has ended, before they get into the project."""

from __future__ import annotations

from collections.abc import Collection

import anyio
import anyio.to_thread

from amplifier_modules.changes.asked import ChangeQuestion
from amplifier_modules.sandbox.command import CommandRunner
from amplifier_modules.tool.context import PersonAnswer, ask_person

from .layered_runner import LayeredRunner, PendingChanges


async def ask_about_changes(runner: CommandRunner) -> tuple[str, ...]:
    """Ask a person about changes that wait, and put into the project what they agree to.

    Returns:
        What is to be said of the changes.
    """
    pending = runner.take_pending() if isinstance(runner, LayeredRunner) else None
    if pending is None:
        return ()
    question = ChangeQuestion(pending.parts, pending.paths)
    try:
        text = await anyio.to_thread.run_sync(question.write)
        answer = await ask_person(text, question.describe(), parts=question.names)
    except BaseException:
        await _commit(pending, (), "the call ended before a person had answered")
        raise
    return await _commit(pending, _list_agreed(answer, pending), answer.reason)


async def _commit(
    pending: PendingChanges, agreed: Collection[str], why_not: str
) -> tuple[str, ...]:
    notes: tuple[str, ...] = ()
    with anyio.CancelScope(shield=True):
        notes = await anyio.to_thread.run_sync(pending.commit, agreed, why_not)
    return notes


def _list_agreed(answer: PersonAnswer, pending: PendingChanges) -> Collection[str]:
    if not answer.is_yes:
        return ()
    return [part.name for part in pending.parts] if answer.parts is None else answer.parts


async def stop_waiting(runner: CommandRunner) -> None:
    """Have changes wait for nobody, as the call ends."""
    if isinstance(runner, LayeredRunner):
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(runner.stop_waiting)
