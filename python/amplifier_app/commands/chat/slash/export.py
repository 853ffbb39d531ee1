"""`/export`: the conversation as a file."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping
from itertools import count
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
from amplifier_app.known_secrets import SECRETS
from amplifier_app.outcome import WRONG_USAGE
from amplifier_app.sessions.choice import SHORT_ID_CHARS
from amplifier_app.sessions.messages import list_texts
from amplifier_app.sessions.opening import run_on_store

if TYPE_CHECKING:
    from pathlib import Path

    from amplifier_modules.stores import Store


def write_markdown(messages: Iterable[Mapping[str, Any]]) -> str:
    """Return a conversation as Markdown: what was said, and which tools were called."""
    parts: list[str] = []
    for message in messages:
        role = message.get("role")
        text = "\n".join(list_texts(message)).strip()
        if role == "user" and text:
            quoted = "\n".join(f"> {line}".rstrip() for line in text.splitlines())
            parts.append(f"## Prompt\n\n{quoted}")
        elif role == "assistant":
            calls = [
                str(each.get("tool") or each.get("name"))
                for each in message.get("tool_calls") or ()
            ]
            parts += [text] if text else []
            parts += [f"*calls {', '.join(f'`{each}`' for each in calls)}*"] if calls else []
    return SECRETS.redact("\n\n".join(["# Conversation", *parts]) + "\n")


async def _export(context: CommandContext, argument: str) -> Shown:
    turns = context.turns
    messages = await turns.read_messages()
    if not messages:
        return ["nothing was said yet"]
    session_id, folder = turns.stored_id, turns.order.folder
    path = _find_file(folder, argument) if argument else _choose_file(folder, session_id)
    if not path.parent.is_dir():
        hint = f"make it first, such as by `!mkdir {path.parent}`"
        raise Failure(f"there is no folder `{path.parent}`", hint=hint, exit_code=WRONG_USAGE)
    kind = path.suffix.lower()
    if kind not in (".json", ".jsonl", ".html"):
        text = write_markdown(messages)
    elif session_id is None:
        hint = "a file that ends with `.md` can be written"
        raise Failure("the conversation is not stored", hint=hint, exit_code=WRONG_USAGE)
    else:
        text = await _read_stored(context, session_id, is_page=kind == ".html")
    from amplifier_app.commands.session.transfer import write_new_file

    await asyncio.to_thread(write_new_file, str(path), [text])
    return [show_line(f"`{path}` is written, readable only by you")]


def _choose_file(folder: Path, session_id: str | None) -> Path:
    """Return a file that is not there yet."""
    name = f"conversation-{(session_id or 'now')[:SHORT_ID_CHARS]}"
    names = (f"{name}{f'-{number}' if number else ''}.md" for number in count())
    return next(path for each in names if not os.path.lexists(path := folder / each))


def _find_file(folder: Path, name: str) -> Path:
    return folder / os.path.expanduser(name)


async def _read_stored(context: CommandContext, session_id: str, *, is_page: bool) -> str:
    from amplifier_app.commands.chat.slash.sessions import find_entry

    entry = find_entry(context)

    async def read(store: Store) -> list[str]:
        from amplifier_modules.stores.export import export_session

        return [each async for each in export_session(store, session_id)]

    lines = await asyncio.to_thread(run_on_store, read, entry)
    if not is_page:
        return "\n".join(lines) + "\n"
    from amplifier_app.trace.page import describe_sessions, write_page
    from amplifier_app.trace.sources import describe_export
    from amplifier_modules.stores.export import read_export

    described = describe_sessions(describe_export(read_export(lines)))
    return write_page(SECRETS.redactor.redact_data(described))


EXPORT = Command(
    name="/export",
    usage="[FILE]",
    brief="write it to a file",
    about="Write the conversation to a new file: Markdown, or by its ending `.jsonl` as `session export`"
    " and `.html` as `trace` do.",
    group=Group.SESSION,
    run=_export,
    waits=wait_always,
)
