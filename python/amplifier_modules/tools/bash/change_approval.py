"""A person's yes to changes of a command that has ended, before they get into the project."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
import anyio.to_thread

from amplifier_modules.sandbox.command import CommandRunner
from amplifier_modules.tool.context import PersonAnswer, ToolContext, ask_nobody

from .careful_question import describe_changes, write_question
from .layered_runner import LayeredRunner


async def ask_about_changes(runner: CommandRunner) -> tuple[str, ...]:
    """Ask a person about changes that wait, put into the project what they agree to.

    Returns:
        What is to be said of the changes.
    """
    pending = runner.take_pending() if isinstance(runner, LayeredRunner) else None
    if pending is None:
        return ()
    answer = PersonAnswer(is_yes=False, reason="the call ended before a person had answered")
    try:
        question = await anyio.to_thread.run_sync(write_question, pending.careful, pending.paths)
        answer = await _ask(question, describe_changes(pending.careful, pending.paths))
    finally:
        commit = partial(pending.commit, is_agreed=answer.is_yes, why_not=answer.reason)
        with anyio.CancelScope(shield=True):
            notes = await anyio.to_thread.run_sync(commit)
    return notes


async def stop_waiting(runner: CommandRunner) -> None:
    """Have changes wait for nobody, as the call ends."""
    if isinstance(runner, LayeredRunner):
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(runner.stop_waiting)


async def _ask(question: str, about: dict[str, Any]) -> PersonAnswer:
    try:
        context = ToolContext.current()
    except LookupError:
        return await ask_nobody(question, about)
    return await context.ask(question, about)
