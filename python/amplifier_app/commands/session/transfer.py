"""`amplifier-core session export` and `import`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from amplifier_app.commands.report import Report
from amplifier_app.failure import Failure
from amplifier_app.outcome import WRONG_USAGE
from amplifier_app.sessions.choice import find_session
from amplifier_app.sessions.opening import run_on_store

if TYPE_CHECKING:
    from amplifier_modules.stores import Store

ExportFormat: TypeAlias = Literal["jsonl", "atif"]
"""Lines of JSON that `import` reads, or a trajectory in the Agent Trajectory Interchange Format."""


def export_to(
    report: Report,
    text: str,
    format: ExportFormat,
    until: int | None,
    file: str | None,
    folder: Path,
    entry: Mapping[str, Any] | None,
) -> None:
    """Write a session to a file, or to standard output.

    Args:
        report: Where it is said.
        text: Which session.
        format: The format.
        until: Leave out the events behind this number; None for all.
        file: The file, which must not be there yet; None for standard output.
        folder: Its sessions are meant first.
        entry: The store.

    Raises:
        Failure: There is no such session, it is damaged, or the file cannot be written.
    """

    async def write_session(store: Store) -> list[str]:
        from amplifier_modules.stores.export import export_session
        from amplifier_modules.stores.trajectory import make_trajectory

        infos = await store.sessions()
        info = find_session(infos, text, folder)
        if format == "jsonl":
            return [each async for each in export_session(store, info.id, until=until)]
        children = [each for each in infos if each.parent == info.id]
        events = await store.read(info.id, until=until)
        return [json.dumps(make_trajectory(info.id, events, children), indent=2)]

    lines = run_on_store(write_session, entry)
    if file is None:
        # UTF-8 whatever the terminal has, as `import` reads it.
        sys.stdout.buffer.writelines(f"{line}\n".encode() for line in lines)
        return
    write_new_file(file, [f"{line}\n" for line in lines])
    report.say_aside(f"{file} has {len(lines):,} lines, which only you can read")


def write_new_file(file: str, texts: Iterable[str]) -> None:
    """Write texts to a file that is not there yet, which only the user can read.

    Raises:
        Failure: It is there, or cannot be written.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    try:
        with open(os.open(file, flags, 0o600), "w", encoding="utf-8") as written:
            written.writelines(texts)
    except FileExistsError:
        hint = "choose a file that is not there yet"
        raise Failure(f"`{file}` exists", hint=hint, exit_code=WRONG_USAGE) from None
    except OSError as error:
        raise Failure(f"`{file}` cannot be written: {error.strerror}") from None


def import_from(
    report: Report, file: str, entry: Mapping[str, Any] | None, *, as_new: bool
) -> None:
    """Add the sessions of an export; writes their ids.

    Args:
        report: Where it is said.
        file: The file; `-` for standard input.
        entry: The store.
        as_new: Whether they get new ids.

    Raises:
        Failure: The file is no export, or a session of its ids is stored already.
    """
    from amplifier_modules.stores import SessionExistsError
    from amplifier_modules.stores.export import give_new_ids, import_sessions, read_export

    try:
        sessions = read_export(_read_lines(file))
    except ValueError as error:
        hint = "`amplifier-core session export` writes one"
        message = f"`{file}` is no export of a session: {error}"
        raise Failure(message, hint=hint, exit_code=WRONG_USAGE) from None
    if as_new:
        sessions = give_new_ids(sessions)

    async def add(store: Store) -> list[str]:
        try:
            return await import_sessions(store, sessions)
        except SessionExistsError as error:
            raise Failure(str(error), hint="`--as-new` gives new ids") from None

    report.write_lines(run_on_store(add, entry))


def _read_lines(file: str) -> list[str]:
    try:
        read = sys.stdin.buffer.read() if file == "-" else Path(file).expanduser().read_bytes()
        return read.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 (byte {error.start})") from None
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        message = f"`{file}` cannot be read: {reason}"
        raise Failure(message, hint="check its path", exit_code=WRONG_USAGE) from None
