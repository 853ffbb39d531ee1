"""Which stored session a run goes on with, as its options say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_app.columns import in_columns
from amplifier_app.failure import Failure
from amplifier_app.known_secrets import SECRETS
from amplifier_app.notice import write_notice
from amplifier_app.outcome import WRONG_USAGE
from amplifier_app.sessions.age import write_age
from amplifier_app.sessions.choice import (
    describe_fork,
    find_latest,
    find_session,
    find_sessions,
    list_in_folder,
    short_id,
    title_of,
)
from amplifier_app.sessions.opening import run_on_store
from amplifier_app.sessions.picker import find_drawable
from amplifier_app.sessions.process import find_process
from amplifier_core import world

if TYPE_CHECKING:
    from amplifier_app.sessions.wish import SessionWish
    from amplifier_modules.stores import SessionInfo, Store

_MAX_CHOICES = 20


@dataclass(frozen=True)
class StoredSession:
    """The session that a run goes on with."""

    id: str
    title: str
    folder: Path | None
    """The folder that it works in."""
    has_open_turn: bool
    """Whether its last turn was not finished."""
    last: tuple[str, str]
    """What the user and the model wrote last."""
    process: int | None
    """The process of this machine that has it open."""
    queued: tuple[str, ...] = ()
    """The prompts that other processes have sent and that no turn had, the next one first."""


def find_stored_session(
    wish: SessionWish, folder: Path, entry: Mapping[str, Any] | None, *, can_ask: bool
) -> StoredSession:
    """Return the session that goes on: the one that is wished for, or a new fork of it.

    Args:
        wish: What the options say.
        folder: Its sessions come first.
        entry: The store; None for the usual one.
        can_ask: Whether a person can be asked which one of several.

    Raises:
        Failure: There is none, several are meant, or it is damaged.
    """
    infos = run_on_store(lambda store: store.sessions(), entry)
    info = _choose(wish, infos, folder, entry, can_ask=can_ask)

    async def open_session(store: Store) -> StoredSession:
        from amplifier_modules.stores.inbox import PROMPT
        from amplifier_modules.stores.stored_history import read_history

        history = read_history(await store.read(info.id))
        id, process = info.id, find_process(info)
        sent = await store.inbox(id)
        if wish.forks:
            id, process, sent = str(world.new_uuid()), None, []
            await store.fork(info.id, id, meta=describe_fork(info))
        place = info.meta.get("folder")
        return StoredSession(
            id=id,
            title=title_of(info),
            folder=Path(place) if isinstance(place, str) else None,
            has_open_turn=history.prompt is not None,
            last=_find_last(history.messages),
            process=process,
            queued=tuple(str(each.body["text"]) for each in sent if each.kind == PROMPT),
        )

    return run_on_store(open_session, entry)


def _choose(
    wish: SessionWish,
    infos: list[SessionInfo],
    folder: Path,
    entry: Mapping[str, Any] | None,
    *,
    can_ask: bool,
) -> SessionInfo:
    if wish.continues:
        return find_latest(infos, folder)
    text = wish.resume or ""
    if not can_ask:
        if not text:
            hint = "name a session, such as `--resume ID`, or use `--continue`"
            message = "`--resume` can ask which session only in a terminal"
            raise Failure(message, hint=hint, exit_code=WRONG_USAGE)
        return find_session(infos, text, folder)
    found = find_sessions(infos, text, folder) if text else list_in_folder(infos, folder)
    if not found and not text:
        found = [each for each in infos if each.parent is None]
    if len(found) > 1:
        return _ask(found, entry)
    if found:
        return found[0]
    return find_session(infos, text, folder) if text else find_latest(infos, folder)


def _ask(found: list[SessionInfo], entry: Mapping[str, Any] | None) -> SessionInfo:
    """Ask the person at the terminal which session is meant.

    Raises:
        Abort: The person chose none.
    """
    if (terminal := find_drawable()) is not None:
        from amplifier_app.sessions.session_rows import pick_session

        chosen = run_on_store(lambda store: pick_session(found, store, terminal), entry)
        if chosen is None:
            raise click.Abort
        return chosen
    found = found[:_MAX_CHOICES]
    rows = [
        (str(number), short_id(info), write_age(info.written), title_of(info))
        for number, info in enumerate(found, 1)
    ]
    for line in in_columns(rows, None, right=(0,)):
        write_notice(SECRETS.redact(line))
    number = click.prompt(
        "which one", type=click.IntRange(1, len(found)), default=1, err=True, show_choices=False
    )
    return found[number - 1]


def _find_last(messages: list[dict[str, Any]]) -> tuple[str, str]:
    from amplifier_app.sessions.messages import list_texts
    from amplifier_modules.changes.undone import is_told
    from amplifier_modules.contexts.messages import is_by_user
    from amplifier_modules.tools.added_folders import is_told_of_folder

    def write_last(chosen: list[dict[str, Any]]) -> str:
        texts = ("\n".join(list_texts(each)).strip() for each in reversed(chosen))
        return next(
            (each for each in texts if each and not (is_told(each) or is_told_of_folder(each))), ""
        )

    return (
        write_last([each for each in messages if is_by_user(each)]),
        write_last([each for each in messages if each.get("role") == "assistant"]),
    )


def describe_stored(stored: StoredSession) -> list[str]:
    """Return the lines that say which session goes on."""
    prompt, answer = (" ".join(each.split()) for each in stored.last)
    lines = [f"goes on with `{stored.title}`"]
    if prompt:
        lines.append(f"  you: {_shorten(prompt)}")
    if answer:
        lines.append(f"  answer: {_shorten(answer)}")
    if stored.has_open_turn:
        lines.append("its last turn was not finished: `/continue` goes on with it")
    return lines


def _shorten(text: str, limit: int = 90) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
