"""`amplifier-core queue` and `session stop`: what is sent to the process that has a session open."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_app.commands.report import Report
from amplifier_app.failure import Failure
from amplifier_app.sessions.choice import describe_session, find_session, short_id
from amplifier_app.sessions.opening import run_on_store
from amplifier_app.sessions.process import SessionHolder, find_process

if TYPE_CHECKING:
    from amplifier_modules.stores import SessionInfo, Store, StoredEvent

_LOOK_SECONDS = 0.2


def queue_prompt(
    report: Report, text: str, prompt: str, folder: Path, entry: Mapping[str, Any] | None
) -> None:
    """Store a prompt that is the next turn of a session.

    Raises:
        Failure: There is no such session.
    """

    async def put(store: Store) -> SessionInfo:
        from amplifier_modules.stores.inbox import PROMPT, put_due

        info = find_session(await store.sessions(), text, folder)
        await put_due(store, info.id, PROMPT, {"text": prompt})
        return info

    info = run_on_store(put, entry)
    process, id = find_process(info), short_id(info)
    if process is None:
        report.write_lines([f"queued for {describe_session(info)}, which no process has open"])
        report.say_aside(f"`amplifier-core --resume {id}` goes on with it, or with `--bg`")
    else:
        report.write_lines([f"queued for {describe_session(info)}, open in process {process}"])


def stop_turn(
    report: Report, text: str, folder: Path, entry: Mapping[str, Any] | None, *, is_now: bool
) -> None:
    """End the turn that runs in another process, and wait until it has ended.

    Raises:
        Failure: There is no such session, or no turn of it runs.
    """

    async def stop(store: Store) -> str:
        from amplifier_core.events import EXECUTION_START
        from amplifier_modules.stores.inbox import STOP

        info = find_session(await store.sessions(), text, folder)
        named = describe_session(info)
        events = await store.read(info.id)
        begun = [each.number for each in events if each.kind == EXECUTION_START]
        if find_process(info) is None:
            raise Failure(f"no process has {named} open", hint="there is nothing to stop")
        if not begun or has_ended(events):
            raise Failure(f"no turn of {named} runs", hint="there is nothing to stop")
        await store.put(info.id, STOP, {"turn": begun[-1], "now": is_now})
        holder = SessionHolder(store, info.id)
        while not has_ended(await store.read(info.id, after=begun[-1])):
            await asyncio.sleep(_LOOK_SECONDS)
            if await holder.find() is None:
                return f"the process of {named} has ended"
        return f"the turn of {named} has ended"

    with report.waiting("waiting until the turn has ended"):
        line = run_on_store(stop, entry)
    report.write_lines([line])


def has_ended(events: list[StoredEvent]) -> bool:
    """Whether the turn that began last has ended."""
    from amplifier_core.events import EXECUTION_START, ORCHESTRATOR_COMPLETE

    ends = (EXECUTION_START, ORCHESTRATOR_COMPLETE)
    last = next((each.kind for each in reversed(events) if each.kind in ends), None)
    return last == ORCHESTRATOR_COMPLETE
