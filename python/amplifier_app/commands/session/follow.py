"""`amplifier-core session follow`: shows what a session does that another process runs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_app.approval import can_ask
from amplifier_app.commands.report import Report
from amplifier_app.commands.session.answer import (
    ask_here,
    describe_questions,
    find_given,
    make_agent,
)
from amplifier_app.commands.session.show import write_message
from amplifier_app.notice import show_notice
from amplifier_app.sessions.choice import describe_session, find_session, short_id
from amplifier_app.sessions.messages import list_messages
from amplifier_app.sessions.opening import run_on_store
from amplifier_app.sessions.process import SessionHolder, describe_stopped

if TYPE_CHECKING:
    from amplifier_modules.stores import SessionInfo, Store, StoredEvent

_LOOK_SECONDS = 0.25
_MAX_LINES = 20


def follow_session(
    report: Report, text: str, folder: Path, entry: Mapping[str, Any] | None
) -> None:
    """Show the last turn of a session and what follows, until no process has it open.

    Raises:
        Failure: There is no such session.
    """
    run_on_store(lambda store: _Following(report, store).run(text, folder), entry)


class _Following:
    def __init__(self, report: Report, store: Store) -> None:
        self._report = report
        self._store = store
        self._agent = make_agent(store)
        self._asking: asyncio.Task[None] | None = None
        self._asked = ""
        """The id of the question that is open here."""
        self._said = ""
        """The line about the process that was said last."""
        self._shown: set[str] = set()
        """The ids of the questions that were shown."""

    async def run(self, text: str, folder: Path) -> None:
        from amplifier_modules.stores.waiting import wait_for_events

        info = find_session(await self._store.sessions(), text, folder)
        self._report.say_aside(f"{describe_session(info)}; Ctrl+C leaves, the session goes on")
        events = await self._store.read(info.id)
        self._show(_find_last_turn(events))
        last = events[-1].number if events else 0
        holder = SessionHolder(self._store, info.id)
        is_alive = True
        try:
            while is_alive or self._is_asking:
                # In this order: what is stored before the process ended is read.
                process = await holder.find()
                is_alive = process is not None
                self._say_stopped(
                    "" if process is None else describe_stopped(process, short_id(info))
                )
                await self._look_for_questions(info)
                new = await self._store.read(info.id, after=last)
                if new:
                    last = new[-1].number
                    self._show(new)
                if is_alive or self._is_asking:
                    await wait_for_events(self._store, info.id, _LOOK_SECONDS)
        finally:
            if self._asking is not None:
                self._asking.cancel()
                await asyncio.wait({self._asking})
        self._report.say_aside(f"no process has it open: `--resume {short_id(info)}` goes on")

    @property
    def _is_asking(self) -> bool:
        """Whether a question is open here."""
        return self._asking is not None and not self._asking.done()

    def _say_stopped(self, line: str) -> None:
        """Say once that the process is stopped."""
        if line and line != self._said:
            show_notice(line)
        self._said = line

    async def _look_for_questions(self, info: SessionInfo) -> None:
        """Ask here what is asked, or say that it is; what is answered elsewhere goes by itself."""
        questions = await self._agent.questions(info.id)
        if self._asking is not None and self._asked not in [each.id for each in questions]:
            if await find_given(self._store, info.id, self._asked) is None:
                self._asking.cancel()  # the turn has ended
            await asyncio.wait({self._asking})
            self._asking = None
        new = [each for each in questions if each.id not in self._shown]
        if not new or self._is_asking:
            return
        self._shown.add(new[0].id)
        if self._report.as_json:
            return  # the rows say it
        if can_ask():
            self._asked = new[0].id
            self._asking = asyncio.create_task(self._ask(info.id, new[0]))
        else:
            self._report.write_lines([f"asks: {line}" for line in describe_questions(new[:1])])
            answer = f"amplifier-core session answer {short_id(info)}"
            show_notice(f"`{answer} yes` answers it, or `no`, or words that say why not")

    async def _ask(self, session_id: str, question: Any) -> None:
        answer = await ask_here(question, partial(find_given, self._store, session_id))
        if answer is not None:
            with suppress(LookupError):  # another one was faster
                await self._agent.answer(session_id, question.id, answer)

    def _show(self, events: list[StoredEvent]) -> None:
        import sys

        if self._report.as_json:
            self._report.write_rows(
                {"number": each.number, "event": each.kind, "data": each.body} for each in events
            )
        else:
            from amplifier_guard import TerminalText

            for _, message in list_messages(events):
                lines = write_message(message, _MAX_LINES)
                self._report.write_lines(["", *(TerminalText.show(each) for each in lines)])
        sys.stdout.flush()


def _find_last_turn(events: list[StoredEvent]) -> list[StoredEvent]:
    from amplifier_core.events import EXECUTION_START

    begun = [place for place, each in enumerate(events) if each.kind == EXECUTION_START]
    return events[begun[-1] :] if begun else []
