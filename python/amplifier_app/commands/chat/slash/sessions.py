"""`/resume`, `/fork` and `/rename`: the session that goes on in the window."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from amplifier_app.commands.chat.command import (
    Command,
    CommandContext,
    Group,
    Shown,
    show_line,
    wait_always,
)
from amplifier_app.failure import Failure
from amplifier_app.line_input.candidate import Candidate
from amplifier_app.outcome import WRONG_USAGE
from amplifier_app.sessions.choice import SHORT_ID_CHARS, list_in_folder, short_id, title_of
from amplifier_app.sessions.opening import run_on_store

if TYPE_CHECKING:
    from amplifier_modules.stores import SessionInfo, Store

_MAX_LISTED = 20


def find_entry(context: CommandContext) -> Any:
    """Return the store of the sessions, as a plan has it; None for the usual one.

    Raises:
        Failure: The conversation is not stored.
    """
    order = context.turns.order
    if not order.is_kept:
        raise Failure("nothing is stored", hint="begin without `--no-save`", exit_code=WRONG_USAGE)
    return None if order.named is None else order.named.store_entry


async def fork_from(
    context: CommandContext, name: str | None, at: int | None = None
) -> tuple[str, str]:
    """Go on with a copy of the session; return the ids of the session and of the copy.

    Args:
        context: The conversation.
        name: What the copy is named; None for the name of the session, marked.
        at: The last event that both have; None for all.

    Raises:
        Failure: Nothing is stored yet.
    """
    from amplifier_app.sessions.choice import describe_fork
    from amplifier_app.sessions.resume import find_stored_session
    from amplifier_app.sessions.wish import SessionWish
    from amplifier_core import world

    entry, turns = find_entry(context), context.turns
    session_id = await turns.close_stored()
    if session_id is None:
        raise Failure("nothing of the conversation is stored yet", hint="say something first")
    new_id = str(world.new_uuid())

    async def fork(store: Store) -> None:
        infos = await store.sessions()
        info = next(each for each in infos if each.id == session_id)
        meta = describe_fork(info)
        await store.fork(
            session_id, new_id, at=at, meta=meta if name is None else {**meta, "name": name}
        )

    await asyncio.to_thread(run_on_store, fork, entry)
    wish = SessionWish(resume=new_id)
    stored = await asyncio.to_thread(
        find_stored_session, wish, turns.order.folder, entry, can_ask=False
    )
    await turns.go_on_with(stored, keeps_mode=True)
    return session_id, new_id


async def _resume(context: CommandContext, argument: str) -> Shown:
    from amplifier_app.sessions.resume import describe_stored, find_stored_session
    from amplifier_app.sessions.wish import SessionWish

    entry, turns = find_entry(context), context.turns
    folder = turns.order.folder
    if not argument:
        return await _choose(context, entry)
    stored = await asyncio.to_thread(
        find_stored_session, SessionWish(resume=argument), folder, entry, can_ask=False
    )
    short = stored.id[:SHORT_ID_CHARS]
    if stored.id == turns.stored_id:
        return [f"`{short}` goes on here already"]
    outside = f"end this with `/quit`, then `amplifier-core --resume {short}`"
    if stored.process is not None:
        raise Failure(f"`{short}` is open in process {stored.process}", hint=outside)
    if stored.folder is not None and stored.folder != folder:
        raise Failure(f"`{short}` works in `{stored.folder}`", hint=outside)
    left = turns.stored_id
    await turns.go_on_with(stored, keeps_mode=False)
    back = [] if left is None else [f"`/resume {left[:SHORT_ID_CHARS]}` returns"]
    lines = (*describe_stored(stored), *back)
    return ["  " * each.startswith("  ") + show_line(each) for each in lines]


async def _choose(context: CommandContext, entry: Any) -> Shown:
    from amplifier_app.sessions.picker import find_drawable
    from amplifier_app.sessions.session_rows import make_row, pick_session

    folder = context.turns.order.folder
    infos = await asyncio.to_thread(run_on_store, lambda store: store.sessions(), entry)
    here = context.turns.stored_id
    found = [each for each in list_in_folder(infos, folder) if each.id != here]
    if not found:
        return ["no other session is stored for this folder"]
    terminal = find_drawable()
    if terminal is None:
        rows = [(each, make_row(each)) for each in found[:_MAX_LISTED]]
        lines = [f"{short_id(info)}  {row.details:<12}  {row.title}" for info, row in rows]
        return [*lines, "`/resume ID` goes on with one"]
    async with context.lines.suspend():
        chosen = await asyncio.to_thread(
            run_on_store, lambda store: pick_session(found, store, terminal), entry
        )
    return [] if chosen is None else await _resume(context, chosen.id)


async def _complete_sessions(context: CommandContext, _: str) -> AsyncIterator[Candidate]:
    order = context.turns.order
    if not order.is_kept:
        return

    infos: list[SessionInfo] = await asyncio.to_thread(
        run_on_store, lambda store: store.sessions(), find_entry(context), []
    )
    for info in list_in_folder(infos, order.folder)[:_MAX_LISTED]:
        if info.id != context.turns.stored_id:
            yield Candidate(short_id(info), show_line(title_of(info)))


async def _fork(context: CommandContext, argument: str) -> Shown:
    left, new = await fork_from(context, argument or None)
    return [
        f"goes on with a copy, `{new[:SHORT_ID_CHARS]}`; `/resume {left[:SHORT_ID_CHARS]}` returns",
        "what was changed before is taken back there, not here",
    ]


async def _rename(context: CommandContext, argument: str) -> Shown:
    find_entry(context)
    name = " ".join(argument.split())
    if not name:
        raise Failure("`/rename` needs a name", hint="`/rename NAME`", exit_code=WRONG_USAGE)
    await context.turns.rename(name)
    return [show_line(f"the session is named `{name}`")]


RESUME = Command(
    name="/resume",
    usage="[SESSION]",
    brief="another session",
    about="Go on with another session of the folder: its id, its name or a part of its title; alone,"
    " choose it from a list. This one stays stored.",
    group=Group.SESSION,
    run=_resume,
    waits=wait_always,
    complete=_complete_sessions,
)
FORK = Command(
    name="/fork",
    usage="[NAME]",
    brief="go on with a copy",
    about="Go on with a copy of the session, and leave the session as it is.",
    group=Group.SESSION,
    run=_fork,
    waits=wait_always,
)
RENAME = Command(
    name="/rename",
    usage="NAME",
    brief="name the session",
    about="Give the session a name, by which `/resume` and `--resume` find it.",
    group=Group.SESSION,
    run=_rename,
    waits=wait_always,
)
