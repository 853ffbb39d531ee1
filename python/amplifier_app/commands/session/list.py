"""`amplifier-core session list`: the sessions that are stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_app.columns import in_columns
from amplifier_app.commands.report import Report
from amplifier_app.printable import printable_line
from amplifier_app.sessions.age import write_age
from amplifier_app.sessions.choice import is_in_folder, short_id, title_of
from amplifier_app.sessions.opening import run_on_store
from amplifier_app.sessions.state import find_states

if TYPE_CHECKING:
    from amplifier_modules.stores import SessionInfo


def list_sessions(
    report: Report, folder: Path, entry: Mapping[str, Any] | None, *, of_all: bool
) -> None:
    """Write the sessions of a folder, or all; those last written to first, without sub-agents."""
    infos = run_on_store(lambda store: store.sessions(), entry)
    own = [each for each in infos if each.parent is None]
    shown = own if of_all else [each for each in own if is_in_folder(each, folder)]
    states = run_on_store(lambda store: find_states(store, shown), entry) if shown else {}
    if report.as_json:
        report.write_list([{**describe_info(each), "state": states[each.id]} for each in shown])
        return
    if shown:
        head = ("ID", "LAST USED", "EVENTS", "STATE", *(("FOLDER",) if of_all else ()), "TITLE")
        rows = [head, *(_make_row(each, states[each.id] or "", of_all=of_all) for each in shown)]
        report.write_lines(in_columns(rows, report.width, right=(2,)))
    else:
        report.say_aside("no session is stored" + ("" if of_all else f" for `{folder}`"))
    if others := len(own) - len(shown):
        report.say_aside(f"{others} in other folders: `--all` shows them")


def describe_info(info: SessionInfo) -> dict[str, Any]:
    """Return what is known of a session, for programs."""
    names = ("name", "title", "folder", "started")
    return {
        "id": info.id,
        **{name: info.meta.get(name) for name in names},
        "written": info.written,
        "head": info.head,
        "base": info.base,
        "base_number": info.base_number,
        "owner": info.owner,
    }


def _make_row(info: SessionInfo, state: str, *, of_all: bool) -> Sequence[str]:
    folder = printable_line(str(info.meta.get("folder", "-")))
    used = write_age(info.written)
    return (
        short_id(info),
        used,
        f"{info.head:,}",
        state,
        *((folder,) if of_all else ()),
        title_of(info),
    )
