"""`/rewind`: back to before a prompt, of the conversation, of the files, or of both."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

from amplifier_app.commands.chat.command import (
    Command,
    CommandContext,
    Group,
    Shown,
    show_line,
    wait_always,
)
from amplifier_app.commands.chat.file_commands import read_typed
from amplifier_app.commands.chat.slash.sessions import find_entry, fork_from
from amplifier_app.failure import Failure
from amplifier_app.known_secrets import SECRETS
from amplifier_app.outcome import WRONG_USAGE
from amplifier_app.sessions.choice import SHORT_ID_CHARS
from amplifier_app.sessions.opening import run_on_store

if TYPE_CHECKING:
    from amplifier_app.sessions.prompts import StoredPrompt

_WHAT = ("both", "conversation", "files")
_TITLES = ("the conversation and the files", "the conversation alone", "the files alone")
_MAX_LISTED = 20
_MAX_CHARS = 200
_OUTSIDE = "what commands did outside of the project, and `!` commands, cannot be taken back"


async def _rewind(context: CommandContext, argument: str) -> Shown:
    prompts = await _read_prompts(context)
    if not prompts:
        return ["there is no prompt to go back to"]
    number, _, what = argument.lower().partition(" ")
    if not number:
        return await _choose(context, prompts)
    what = what.strip() or "both"
    if not number.isdecimal() or not 1 <= int(number) <= len(prompts) or what not in _WHAT:
        hint = f"`/rewind N [conversation|files]`, with N from 1 to {len(prompts)}"
        raise Failure(f"`{argument}` is no prompt", hint=hint, exit_code=WRONG_USAGE)
    return await _go_back(context, prompts, prompts[int(number) - 1], what)


async def _read_prompts(context: CommandContext) -> list[StoredPrompt]:
    from amplifier_app.sessions.prompts import list_prompts

    entry, session_id = find_entry(context), context.turns.stored_id
    if session_id is None:
        return []
    events = await asyncio.to_thread(run_on_store, lambda store: store.read(session_id), entry)
    return [replace(each, text=read_typed(each.text)) for each in list_prompts(events)]


async def _choose(context: CommandContext, prompts: list[StoredPrompt]) -> Shown:
    from amplifier_app.sessions.picker import Picker, PickerRow, find_drawable, pick

    newest = list(reversed(prompts))
    terminal = find_drawable()
    if terminal is None:
        lines = [f"{each.number:>3}  {_show(each.text)}" for each in newest[:_MAX_LISTED]]
        return [*lines, "`/rewind N` goes back to before one; `/rewind N conversation`, `… files`"]

    async def ask(terminal: TextIO) -> tuple[StoredPrompt, str] | None:
        rows = [
            PickerRow(_show(each.text), f"prompt {each.number}", preview=_write_preview(each))
            for each in newest
        ]
        place = await pick(Picker("Back to before which prompt?", rows), terminal)
        if place is None:
            return None
        kinds = [PickerRow(each, preview=rows[place].preview) for each in _TITLES]
        kind = await pick(Picker("What goes back?", kinds), terminal)
        return None if kind is None else (newest[place], _WHAT[kind])

    async with context.lines.suspend():
        chosen = await ask(terminal)
    return [] if chosen is None else await _go_back(context, prompts, *chosen)


async def _go_back(
    context: CommandContext, prompts: list[StoredPrompt], prompt: StoredPrompt, what: str
) -> Shown:
    lines: list[str] = []
    left = (context.turns.stored_id or "")[:SHORT_ID_CHARS]
    if what != "conversation":
        lines += await _take_back(context, prompt)
        if any(each.runs_commands for each in prompts[prompt.number - 1 :]):
            lines.append(_OUTSIDE)
    else:
        lines.append(
            f"the files stay; `amplifier-core undo {left} --to {prompt.before}` takes them back"
        )
    if what == "files":
        return [*lines, "the conversation stays"]
    _, new = await fork_from(context, None, prompt.before)
    context.lines.put_back(SECRETS.redact(prompt.text))
    short = new[:SHORT_ID_CHARS]
    where = f"the conversation goes on from before prompt {prompt.number}, as `{short}`"
    return [*lines, f"{where}; `/resume {left}` returns to all of it"]


async def _take_back(context: CommandContext, prompt: StoredPrompt) -> Shown:
    from amplifier_app.commands.changes.in_conversation import answer_command

    try:
        return await answer_command("/undo", str(prompt.before), await context.turns.open())
    except RuntimeError as error:  # the session keeps no changes
        return [show_line(f"the files stay: {error}")]


def _show(text: str) -> str:
    return SECRETS.write_line(text, _MAX_CHARS)


def _write_preview(prompt: StoredPrompt) -> list[str]:
    asked = [f"> {_show(each)}" for each in prompt.text.splitlines()]
    said = [_show(line) for each in prompt.answers for line in each.splitlines()]
    return [*asked, "", *said]


REWIND = Command(
    name="/rewind",
    usage="[N [conversation|files]]",
    brief="back before a prompt",
    about="Go back to before a prompt, with the conversation, the files of the project, or both; alone,"
    " choose it from a list. Nothing is lost: the conversation goes on as a copy.",
    group=Group.CHANGES,
    run=_rewind,
    waits=wait_always,
)
