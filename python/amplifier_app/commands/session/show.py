"""`amplifier-core session show`: the conversation of a stored session."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_app.commands.report import Report
from amplifier_app.commands.session.list import describe_info
from amplifier_app.sessions.age import write_age
from amplifier_app.sessions.choice import find_session, title_of
from amplifier_app.sessions.messages import list_messages, list_texts
from amplifier_app.sessions.opening import run_on_store
from amplifier_app.sessions.state import find_states

if TYPE_CHECKING:
    from amplifier_modules.stores import SessionInfo, Store, StoredEvent

_MAX_LINES = 20
"""So many lines of a tool's result are shown."""
_MAX_CHARS = 300
"""So many characters of the input of a call are shown."""


def show_session(
    report: Report, text: str, folder: Path, entry: Mapping[str, Any] | None, *, whole: bool
) -> None:
    """Write a conversation.

    Args:
        report: Where it is written.
        text: Which session.
        folder: Its sessions are meant first.
        entry: The store.
        whole: Whether results of tools are shown to their end.

    Raises:
        Failure: There is no such session, or it is damaged.
    """

    async def read(store: Store) -> tuple[SessionInfo, list[StoredEvent]]:
        info = find_session(await store.sessions(), text, folder)
        return info, await store.read(info.id)

    info, events = run_on_store(read, entry)
    states = run_on_store(lambda store: find_states(store, [info]), entry)
    messages = list(list_messages(events))
    if report.as_json:
        report.write_data(
            {
                **describe_info(info),
                "state": states[info.id],
                "messages": [each for _, each in messages],
            }
        )
        return
    from amplifier_guard import TerminalText

    report.say_aside(f"{info.id}  {title_of(info)}  {write_age(info.written)}")
    for number, message in messages:
        lines = write_message(message, None if whole else _MAX_LINES)
        report.write_lines(["", *(TerminalText.show(each) for each in _put_number(number, lines))])


def _put_number(number: int, lines: Iterable[str]) -> Iterator[str]:
    """Put the number of the event before the first line, as `fork --at` takes it."""
    for place, line in enumerate(lines):
        yield f"{number:>5}  {line}" if place == 0 else f"       {line}".rstrip()


def write_message(message: Mapping[str, Any], limit: int | None) -> Iterator[str]:
    """Yield the lines of a message; of the result of a tool at most so many."""
    text = "\n".join(list_texts(message)).rstrip("\n")
    role = str(message.get("role"))
    if role == "tool":
        lines = text.splitlines()
        yield f"{message.get('name') or 'tool'} returned:"
        yield from lines[:limit]
        if limit is not None and len(lines) > limit:
            yield f"… {len(lines) - limit:,} more lines; `--whole` shows them"
        return
    yield f"{role}:"
    yield from text.splitlines()
    for call in message.get("tool_calls") or ():
        written = json.dumps(call.get("arguments") or {}, ensure_ascii=False)
        shown = written if len(written) <= _MAX_CHARS else f"{written[:_MAX_CHARS]}…"
        yield f"→ {call.get('tool') or call.get('name')} {shown}"
