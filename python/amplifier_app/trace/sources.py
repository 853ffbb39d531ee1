"""Where the events of a session come from: a store, an export of one, or a log of events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from amplifier_app.failure import Failure
from amplifier_app.outcome import WRONG_USAGE

from .reading import RecordedSession

if TYPE_CHECKING:
    from amplifier_modules.stores.export import ExportedSession

_HINT = (
    "it must be an export (`amplifier-core session export`), the output of `--json`, or a log of"
    " `hooks-logging`"
)


def read_log(path: Path) -> list[RecordedSession]:
    """Return the sessions of a file, the one that the others belong to first.

    Raises:
        Failure: It cannot be read, or is no log.
    """
    try:
        lines = path.read_bytes().decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        message = f"`{path}` is not UTF-8 (byte {error.start})"
        raise Failure(message, hint=_HINT, exit_code=WRONG_USAGE) from None
    except OSError as error:
        message = f"`{path}` cannot be read: {error.strerror}"
        raise Failure(message, hint="check its path", exit_code=WRONG_USAGE) from None
    first = next((line for line in lines if line.strip()), "")
    try:
        if isinstance(_read_line(first, 1).get("format"), str):
            from amplifier_modules.stores.export import read_export

            return describe_export(read_export(lines))
        sessions = _group_events(_read_line(line, n) for n, line in _number_lines(lines))
        if not sessions:
            raise ValueError("it has no event of a session")
    except ValueError as error:
        message = f"`{path}` is no log: {error}"
        raise Failure(message, hint=_HINT, exit_code=WRONG_USAGE) from None
    return sessions


def describe_export(exported: Sequence[ExportedSession]) -> list[RecordedSession]:
    """Return exported sessions in the form that is read."""
    return [
        RecordedSession(
            each.id,
            each.parent,
            each.call,
            str(each.meta.get("name") or each.meta.get("title") or ""),
            str(each.meta.get("folder") or ""),
            list(_list_bodies(each)),
        )
        for each in exported
    ]


def _list_bodies(exported: ExportedSession) -> Iterator[tuple[str, dict[str, Any]]]:
    for event in exported.events:
        body: object = event.body
        if isinstance(body, dict):
            yield event.kind, cast("dict[str, Any]", body)


def _number_lines(lines: Iterable[str]) -> Iterable[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(lines, 1) if line.strip())


def _read_line(line: str, number: int) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"line {number} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError(f"line {number} is no object")  # noqa: TRY004 -- it is about the file
    return cast("dict[str, Any]", value)


def _group_events(lines: Iterable[Mapping[str, Any]]) -> list[RecordedSession]:
    """Return the sessions of lines with an `event` and its `data`, in the order of their first."""
    sessions: dict[str, RecordedSession] = {}
    for line in lines:
        kind, data = line.get("event"), line.get("data")
        if not isinstance(kind, str) or not isinstance(data, Mapping):
            continue
        fields = cast("Mapping[str, Any]", data)
        id = fields.get("session_id")
        if not isinstance(id, str):
            continue
        if id not in sessions:
            parent = fields.get("parent_id")
            sessions[id] = RecordedSession(id, str(parent) if parent in sessions else None)
        session = sessions[id]
        session.call = session.call or fields.get("parent_tool_call_id")
        session.title = session.title or str(fields.get("prompt") or "")[:200]
        session.events.append((kind, fields))
    return [*sessions.values()]
