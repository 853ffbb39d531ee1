"""What `amplifier-core trace` writes, and where."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_app.commands.report import Report
from amplifier_app.failure import Failure
from amplifier_app.known_secrets import SECRETS
from amplifier_app.outcome import WRONG_USAGE
from amplifier_app.sessions.choice import SHORT_ID_CHARS, find_latest, find_session
from amplifier_app.sessions.opening import run_on_store
from amplifier_app.trace.page import describe_sessions, is_page, write_page
from amplifier_app.trace.sources import describe_export, read_log

if TYPE_CHECKING:
    from amplifier_app.trace.reading import RecordedSession
    from amplifier_modules.stores import Store


def write_trace(
    report: Report,
    name: str | None,
    output: str | None,
    folder: Path,
    entry: Mapping[str, Any] | None,
) -> None:
    """Write a session as a page, and the path of that.

    Args:
        report: Where it is said.
        name: Which session, or the file of a log; None for the last session of the folder.
        output: The file; `-` for standard output, None for one in the current folder.
        folder: Its sessions are meant first.
        entry: The store.

    Raises:
        Failure: There is no such session or log, or the page cannot be written.
    """
    if name is not None and Path(name).is_file():
        sessions = read_log(Path(name))
    else:
        sessions = _read_stored(name, folder, entry)
    described = describe_sessions(sessions)
    page = write_page(SECRETS.redactor.redact_data(described)).encode()
    if output == "-":
        sys.stdout.buffer.write(page)
        return
    path = output or f"trace-{sessions[0].id[:SHORT_ID_CHARS]}.html"
    _write_file(path, page)
    report.write_lines([path])


def _read_stored(
    name: str | None, folder: Path, entry: Mapping[str, Any] | None
) -> list[RecordedSession]:
    async def read(store: Store) -> list[str]:
        from amplifier_modules.stores.export import export_session

        infos = await store.sessions()
        info = find_latest(infos, folder) if name is None else find_session(infos, name, folder)
        return [each async for each in export_session(store, info.id)]

    from amplifier_modules.stores.export import read_export

    return describe_export(read_export(run_on_store(read, entry)))


def _write_file(path: str, page: bytes) -> None:
    """Write a new file, or in the place of a page of ours; only the user can read it."""
    try:
        try:
            with open(path, "rb") as before:
                is_ours = is_page(before.read(1000))
        except FileNotFoundError:
            pass
        else:
            if not is_ours:
                hint = "choose another file with `--output`"
                raise Failure(
                    f"`{path}` exists, and is no page of `trace`", hint=hint, exit_code=WRONG_USAGE
                )
            os.unlink(path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with open(os.open(path, flags, 0o600), "wb") as file:
            file.write(page)
    except OSError as error:
        raise Failure(f"`{path}` cannot be written: {error.strerror}") from None
