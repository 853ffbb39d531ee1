"""Asking the user at the terminal for permission."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import secrets
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from amplifier_app.known_secrets import SECRETS
from amplifier_app.line_input.typed_line import read_typed
from amplifier_app.line_input.withdrawn_question import ShownQuestion, Withdrawal
from amplifier_app.notice import write_notice
from amplifier_app.offered_grants import (
    Unit,
    describe_hunk,
    describe_offer,
    describe_part,
    describe_rule,
    is_yes,
    list_units,
    name_grant,
    read_rule_line,
    wants_each,
    wants_hunks,
    wants_rule,
    wants_session,
)
from amplifier_app.printable import printable_line
from amplifier_app.question_colors import color_rows, shows_colors, shows_difference
from amplifier_core.approval import (
    ASKED_CALL,
    CONSENT,
    SESSION_GRANT,
    AskedCall,
    is_consent,
    note_grant,
    note_parts,
    note_unasked,
    note_words,
    option_words,
)

if TYPE_CHECKING:
    from amplifier_app.sessions.given_answer import GivenAnswer

Keep: TypeAlias = Callable[[str], None]
"""Takes what was typed as an answer to a question that another process has answered meanwhile."""
Asking: TypeAlias = Callable[[], contextlib.AbstractAsyncContextManager[Keep | None]]
"""Makes what is put around a question."""
Elsewhere: TypeAlias = Callable[[AskedCall], Awaitable["GivenAnswer | None"]]
"""Returns the answer of another process; None while there is none."""

_DENIED = "Deny"
_ONCE = "yes\n"
_LETTERS = "bcdfghjkmnpqrstvwxz"
"""No word can be spelt with these."""
_MIN_COLUMNS = 20
_USUAL_COLUMNS = 80
_USUAL_LINES = 24
_ROWS_OF_ANSWER = 4
_LOOK_SECONDS = 0.2


class TerminalApproval:
    """Asks in the terminal that standard input is, and reads the answer from there.

    Each row of a question begins with a mark that is new each time, so that no text of a model can
    look like one. The answer is a word; anything else denies, and several words go to the model as
    the reason. What was typed before the question was on the screen denies. If standard input is
    not a terminal, the answer is a denial.

    Args:
        before_asking: Called first, so that nothing else is drawn.
        after_asking: Called last, also after an error.
        asking: Put around each question, where something else reads from the terminal.
        elsewhere: Finds the answer of another process, which the question goes for; None where
            there are none.
    """

    def __init__(
        self,
        before_asking: Callable[[], None] = lambda: None,
        after_asking: Callable[[], None] = lambda: None,
        asking: Asking = contextlib.nullcontext,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self._before_asking = before_asking
        self._after_asking = after_asking
        self._asking = asking
        self._elsewhere = elsewhere
        self._turn = asyncio.Lock()

    async def request_approval(
        self,
        prompt: str,
        options: list[str],
        timeout: float,  # noqa: ASYNC109 - the kernel's contract
        default: Literal["allow", "deny"],
    ) -> str:
        """Ask, and return the chosen option.

        Raises:
            ApprovalTimeoutError: No answer came within `timeout` seconds.
        """
        withdrawal = Withdrawal()
        here = self._ask_in_turn(prompt, options, timeout, default, withdrawal)
        call = ASKED_CALL.get()
        if call is None or self._elsewhere is None:
            return await here
        asking = asyncio.create_task(here)
        try:
            given = await self._wait_for_answer(asking, call)
            if given is None:
                return asking.result()
            withdrawal.line = given.describe(prompt)
            if asking.done():
                write_notice(f"answered before: {withdrawal.line}")
        finally:
            asking.cancel()
            await asyncio.wait({asking})
            _ = asking.cancelled() or asking.exception()  # which an answer makes no matter
        return _find_choice("yes" if given.is_granted else "", options)

    async def _wait_for_answer(
        self, asking: asyncio.Task[str], call: AskedCall
    ) -> GivenAnswer | None:
        """Wait until a question is answered; return the answer of another process, if it is one."""
        assert self._elsewhere is not None
        while True:
            given = await self._elsewhere(call)
            if given is not None or asking.done():
                return given
            await asyncio.wait({asking}, timeout=_LOOK_SECONDS)

    async def _ask_in_turn(
        self,
        prompt: str,
        options: Sequence[str],
        timeout: float,  # noqa: ASYNC109
        default: Literal["allow", "deny"],
        withdrawal: Withdrawal,
    ) -> str:
        try:
            await self._turn.acquire()
        except asyncio.CancelledError:
            if withdrawal.line:
                write_notice(withdrawal.line)
            raise
        try:
            self._before_asking()
            try:
                async with self._asking() as keep:
                    return await self._ask(prompt, options, timeout, default, withdrawal, keep)
            finally:
                self._after_asking()
        finally:
            self._turn.release()

    async def _ask(
        self,
        prompt: str,
        options: Sequence[str],
        timeout: float,  # noqa: ASYNC109
        default: Literal["allow", "deny"],
        withdrawal: Withdrawal,
        keep: Keep | None,
    ) -> str:
        from amplifier_core.approval import ApprovalTimeoutError

        if not can_ask() or sys.platform == "win32":
            question = printable_line(SECRETS.redactor.redact_known(prompt))
            return _deny_unasked(_describe_obstacle(sys.platform), question)
        mark, line, grant = "", "", ""
        shown: ShownQuestion | None = None
        limit = timeout if timeout < math.inf else None
        otherwise = "other words deny" if limit is None else f"{default} after {timeout:.0f} s"
        try:
            async with asyncio.timeout(limit):
                is_whole = False
                while not is_whole:
                    columns = _measure_columns()
                    shown = _put_question(prompt, options, otherwise)
                    mark = shown.mark
                    line = await _line_from_terminal()
                    shown = replace(shown, rows=0)
                    # In a terminal that became narrower, rows began without the mark.
                    is_whole = not line.endswith("\n") or _measure_columns() >= columns
                if wants_session(line):
                    line, grant = _ONCE, SESSION_GRANT
                elif (call := wants_rule(line)) is not None:
                    rule = await _ask_for_rule(call, mark)
                    line, grant = ("", "") if rule is None else (_ONCE, rule)
                elif (call := wants_each(line)) is not None:
                    granted, words = await _ask_about_each(list_units(call), mark)
                    note_parts(granted)
                    note_words(words)
                    line = _ONCE if granted else "\n"
        except TimeoutError:
            _note(f"\n{mark}| no answer\n")
            raise ApprovalTimeoutError(f"no answer in {timeout:.0f} s") from None
        except asyncio.CancelledError:
            # What is asked about needs no answer any more: the command that waited has ended, or
            # another process has answered.
            if shown is not None:
                _withdraw(shown, withdrawal, keep)
            raise
        except (OSError, ValueError) as error:
            return _deny_unasked("the question cannot be shown", str(error))
        chosen = _find_choice(line, options)
        if not is_consent(chosen) and len(line.split()) > 1 and line.strip() not in options:
            note_words(line)
        if grant and is_consent(chosen):
            note_grant(grant)
        ending = "" if line.endswith("\n") else "\n"
        _note(f"{ending}{mark}| {name_grant(grant) if is_consent(chosen) else 'denied'}\n")
        return chosen


def _withdraw(shown: ShownQuestion, withdrawal: Withdrawal, keep: Keep | None) -> None:
    """Take a question from the screen, with what is half typed as its answer."""
    if not withdrawal.line:
        _note(f"\n{shown.mark}| withdrawn\n")
        return
    descriptor = sys.stdin.fileno()
    typed = read_typed(descriptor).decode(errors="replace")
    with contextlib.suppress(OSError):
        erasing = shown.find_erasing(typed, os.get_terminal_size(descriptor), os.environ)
        place = erasing or f"\n{shown.mark}| "
        _note(f"{place}{withdrawal.line}\n")
    if typed and keep is not None:
        keep(typed)


async def _ask_for_rule(call: AskedCall, mark: str) -> str | None:
    """Show a rule before it is kept, and return it as the person leaves it; None if they deny.

    Raises:
        OSError: The terminal cannot be written to.
        ValueError: It cannot show the characters.
    """
    problem: str | None = None
    while True:
        columns = _measure_columns()
        for row in describe_rule(call, problem):
            _write_rows(_write_marked(row, mark, columns))
        _forget_typed()
        _write(f"{mark}> ")
        rule = read_rule_line(call, await _line_from_terminal())
        if rule is None or (problem := call.check_rule(rule)) is None:
            return rule


async def _ask_about_each(units: Sequence[Unit], mark: str) -> tuple[list[str], str]:
    """Ask about each part of what is asked about, or about its hunks.

    Returns:
        The names of what is agreed to, and the words with which the rest was denied.

    Raises:
        OSError: The terminal cannot be written to.
        ValueError: It cannot show the characters.
    """
    granted: list[str] = []
    for number, unit in enumerate(units, 1):
        line = "h\n"
        if len(units) > 1:
            line = await _ask_in_rows(describe_part(unit, number, len(units)), mark)
        if unit.hunks and wants_hunks(line):
            taken, line = await _ask_about_hunks(unit.hunks, mark)
            granted += [unit.name] if len(taken) == len(unit.hunks) else taken
            if not line:
                continue
        if (answer := is_yes(line)) is None:
            return granted, line.strip() if len(line.split()) > 1 else ""
        if answer:
            granted.append(unit.name)
    return granted, ""


async def _ask_about_hunks(hunks: Mapping[str, str], mark: str) -> tuple[list[str], str]:
    """Ask about each hunk; return the names of the agreed ones, and the line that ended it early."""
    taken: list[str] = []
    for number, (name, text) in enumerate(hunks.items(), 1):
        line = await _ask_in_rows(describe_hunk(text, number, len(hunks)), mark)
        if (answer := is_yes(line)) is None:
            return taken, line or "\n"
        if answer:
            taken.append(name)
    return taken, ""


async def _ask_in_rows(text: str, mark: str) -> str:
    """Show rows with the mark, and return the line that is typed after that."""
    while True:
        columns = _measure_columns()
        _write_rows(_write_marked(text, mark, columns), is_difference=True)
        _forget_typed()
        _write(f"{mark}> ")
        line = await _line_from_terminal()
        # In a terminal that became narrower, rows began without the mark.
        if not line.endswith("\n") or _measure_columns() >= columns:
            return line


def _deny_unasked(reason: str, detail: str) -> str:
    """Deny what nobody can be asked about, and tell the person and the model why."""
    write_notice(f"denied, because {reason}: {detail}")
    note_unasked(reason)
    return _DENIED


def _describe_obstacle(platform: str) -> str:
    if platform == "win32":
        return "nobody can be asked in a console of Windows (run this program in WSL 2)"
    return "there is no terminal to ask in"


def can_ask() -> bool:
    """Whether standard input is a terminal, where somebody may be."""
    return sys.stdin is not None and sys.stdin.isatty()  # pyright: ignore[reportUnnecessaryComparison]


def _put_question(prompt: str, options: Sequence[str], otherwise: str) -> ShownQuestion:
    """Put a question on the screen.

    Raises:
        OSError: The terminal cannot be written to.
        ValueError: It is too narrow, or cannot show the characters.
    """
    lines = os.get_terminal_size(sys.stdin.fileno()).lines or _USUAL_LINES
    columns = _measure_columns()
    if columns < _MIN_COLUMNS:
        raise ValueError(f"the terminal has {columns} columns (at least {_MIN_COLUMNS} are needed)")
    mark = "".join(secrets.choice(_LETTERS) for _ in range(4))
    accepted = [*map(option_words, options), "deny"]
    words = ", ".join(dict.fromkeys(each for each in accepted if each.replace(" ", "").isalnum()))
    rows = [
        *_write_marked("approval needed", mark, columns),
        *_write_marked(prompt, mark, columns),
    ]
    if len(rows) + _ROWS_OF_ANSWER > lines:
        rows += _write_marked(f"read all {len(rows)} rows: scroll up", mark, columns)
    if offer := describe_offer():
        rows += _write_marked(offer, mark, columns)
    rows += _write_marked(f"answer with a word: {words} ({otherwise})", mark, columns)
    _write_rows(rows, is_difference=shows_difference(prompt))
    _forget_typed()
    # Whoever answers has seen all of it.
    _write(f"{mark}> ")
    return ShownQuestion(mark, len(rows), columns)


def _write_marked(text: str, mark: str, columns: int) -> list[str]:
    from amplifier_app.named_secrets import with_names
    from amplifier_guard.question import question_rows

    return question_rows(with_names(text, SECRETS.names), mark, columns)


def _write_rows(rows: Sequence[str], *, is_difference: bool = False) -> None:
    """Write rows of a question, those of a difference in colours where the terminal has some.

    Raises:
        OSError: The terminal cannot be written to.
        UnicodeEncodeError: It cannot show the characters.
    """
    shown = color_rows(rows) if is_difference and shows_colors(os.environ) else rows
    _write("".join(f"{row}\n" for row in shown))


def _measure_columns() -> int:
    """The width of the terminal.

    Raises:
        OSError: It is gone.
    """
    return os.get_terminal_size(sys.stdin.fileno()).columns or _USUAL_COLUMNS


def _write(text: str) -> None:
    """Write to the terminal that the answer comes from, wherever the output of the program goes.

    Raises:
        OSError: It cannot be written to.
        UnicodeEncodeError: It cannot show the characters.
    """
    left = text.encode(sys.stdin.encoding or "utf-8")
    terminal = os.open(os.ttyname(sys.stdin.fileno()), os.O_WRONLY | os.O_NOCTTY)
    try:
        while left:
            left = left[os.write(terminal, left) :]
    finally:
        os.close(terminal)


def _note(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        _write(text)


def _forget_typed() -> None:
    """Drop what was typed before the question: it answers something else.

    Raises:
        OSError: The terminal cannot do it.
    """
    import termios

    try:
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    except termios.error as error:
        raise OSError(*error.args) from error


def _find_choice(line: str, options: Sequence[str]) -> str:
    """The option that a line names; any word of consent names the first that grants once."""
    words = option_words(line.strip())
    for option in options:
        if words and option_words(option) == words:
            return option
    if words in CONSENT:
        for option in options:
            if is_consent(option) and "always" not in option_words(option):
                return option
    return _DENIED


async def _line_from_terminal() -> str:
    """One line; empty if the terminal was closed.

    No thread reads it, so that a cancelled question leaves nothing behind.
    """
    loop = asyncio.get_running_loop()
    arrived: asyncio.Future[bytes] = loop.create_future()
    descriptor = sys.stdin.fileno()

    def read() -> None:
        if not arrived.done():
            arrived.set_result(_read(descriptor))

    loop.add_reader(descriptor, read)
    try:
        return (await arrived).decode(errors="replace")
    finally:
        loop.remove_reader(descriptor)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""  # the terminal is gone
