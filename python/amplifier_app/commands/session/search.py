"""`amplifier-core session search`: the stored sessions in which a text was said."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_app.commands.report import Report
from amplifier_app.commands.session.list import describe_info
from amplifier_app.notice import show_notice
from amplifier_app.printable import printable_line
from amplifier_app.sessions.choice import is_in_folder, short_id, title_of
from amplifier_app.sessions.messages import list_messages, list_texts
from amplifier_app.sessions.opening import run_on_store

if TYPE_CHECKING:
    from amplifier_modules.stores import SessionInfo, Store

_CHARS_BEFORE = 40
_CHARS_SHOWN = 100


def search_sessions(
    report: Report, text: str, folder: Path, entry: Mapping[str, Any] | None, *, of_all: bool
) -> None:
    """Write the sessions that have a text in their title or their messages, in either case.

    A session that is damaged is left out, and said.
    """
    from amplifier_modules.stores import StoreError

    folded = text.casefold()
    damaged: list[str] = []

    async def search(store: Store) -> list[tuple[SessionInfo, int, str]]:
        found: list[tuple[SessionInfo, int, str]] = []
        for info in await store.sessions():
            if not of_all and not is_in_folder(info, folder):
                continue
            try:
                hit = await _find_text(store, info, folded)
            except StoreError as error:
                damaged.append(str(error))
                continue
            if hit is not None:
                found.append((info, *hit))
        return found

    found = run_on_store(search, entry)
    for problem in damaged:
        show_notice(f"warning: {problem}")
    if report.as_json:
        report.write_list(
            [
                {**describe_info(info), "parent": info.parent, "number": number, "excerpt": excerpt}
                for info, number, excerpt in found
            ]
        )
        return
    for info, number, excerpt in found:
        where = f"event {number}: " if number else ""
        report.write_lines(
            [f"{short_id(info)}  {title_of(info)}", f"          {where}{printable_line(excerpt)}"]
        )
    if not found:
        report.say_aside("nothing is found" + ("" if of_all else "; `--all` looks in all folders"))


async def _find_text(store: Store, info: SessionInfo, folded: str) -> tuple[int, str] | None:
    """Return the first event that has the text, and what is around it; 0 for the title."""
    title = title_of(info, 1_000)
    if folded in title.casefold():
        return 0, title
    for number, message in list_messages(await store.read(info.id)):
        for each in list_texts(message):
            place = each.casefold().find(folded)
            if place >= 0:
                start = max(0, place - _CHARS_BEFORE)
                return number, each[start : start + _CHARS_SHOWN]
    return None
