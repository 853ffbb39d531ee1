"""A conversation in the terminal: each line is a prompt, a command or, in a turn, steering."""

from __future__ import annotations

import asyncio
import math
import signal
from collections import deque
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING

from amplifier_app.commands.chat.attached_lines import AttachedLines
from amplifier_app.commands.chat.command import Command, CommandContext
from amplifier_app.commands.chat.file_commands import FileCommands
from amplifier_app.commands.chat.line_queue import LineQueue
from amplifier_app.commands.chat.meant_words import find_meant
from amplifier_app.commands.chat.modes import Modes
from amplifier_app.commands.chat.own_command import MARK, OwnCommands, is_there
from amplifier_app.commands.chat.server_commands import ServerCommands
from amplifier_app.commands.chat.slash_commands import SlashCommand, slash_command
from amplifier_app.commands.chat.status_line import StatusLine
from amplifier_app.commands.chat.turns import Turns
from amplifier_app.commands.model_choice import AnsweringProvider
from amplifier_app.failure import Failure, report
from amplifier_app.interrupt import leave, listening
from amplifier_app.known_secrets import SECRETS
from amplifier_app.line_input.lines import Typing
from amplifier_app.notice import show_notice, write_notice
from amplifier_app.sessions.keeping import show_way_back
from amplifier_app.sessions.mail import watch_mail

if TYPE_CHECKING:
    from amplifier_app.attached.pasted_images import PastedImages
    from amplifier_app.commands.chat.command_table import CommandTable
    from amplifier_app.commands.conversation import Conversation
    from amplifier_app.commands.order import Order
    from amplifier_app.line_input.lines import Lines

_SECONDS_OF_PAIR = 2.0
"""Ctrl+C is pressed twice within that."""
_REWIND = "/rewind"


class Chat:
    """Takes what a person types, until that person, the terminal or a signal ends it.

    Args:
        order: The folder, the model and the modules; its prompt is not used.
        answering: The provider that answers.
        lines: Where the lines come from.
        commands: The slash commands.
        images: The images that were pasted into them.
    """

    def __init__(
        self,
        order: Order,
        answering: AnsweringProvider,
        lines: Lines,
        commands: CommandTable,
        images: PastedImages | None = None,
    ) -> None:
        self._lines = lines
        self._attached = AttachedLines(order, images)
        self._servers = ServerCommands()
        self._turns = Turns(order, answering, lines, lambda: self._end("SIGHUP"), self._watch)
        self._modes = Modes(self._turns)
        self._status = StatusLine(self._turns, order.folder, self._modes.find_current)
        self._commands = commands
        self._context = CommandContext(self._turns, lines, self._modes, commands)
        commands.context = self._context
        commands.add_source(self._servers)
        commands.add_source(FileCommands(order.folder, commands.list_own))
        self._work: asyncio.Task[None] | None = None
        self._asides: set[asyncio.Task[None]] = set()
        """Commands that are obeyed while a turn runs."""
        self._own = OwnCommands(order.folder)
        self._waiting: deque[str] = deque()
        self._queue = LineQueue(lines)
        self._asked_about = ""
        """The line that was taken last, which may have been meant as a command."""
        self._is_interrupted = False
        """Whether a person interrupts what is being done."""
        self._pressed = -math.inf
        """When Ctrl+C was pressed last with nothing to end or to drop."""
        self._exit_code = 0
        self._is_asked_for = False
        """Whether another process gets the session after the turn."""

    async def run(self) -> int:
        """Run to the end and return the exit code; the session is always cleaned up."""
        with listening(self._interrupt, self._end):
            loading = asyncio.create_task(self._turns.load())
            mail = watch_mail(
                self._turns, lambda: self._turns.running, self._give_back, self._run_queued
            )
            try:
                is_open = await self._lines.run(
                    Typing(
                        take=self._take,
                        interrupt=self._interrupt,
                        stop=self._stop,
                        rewind=self._rewind,
                        change_mode=self._modes.choose_next,
                        find_mode=self._modes.find_shown,
                        queue=self._keep_for_later,
                        take_back=self._queue.take_last,
                        write_status=self._status.write,
                    )
                )
                if not is_open and not self._exit_code:
                    self._exit_code = 128 + signal.SIGHUP
            finally:
                self._waiting.clear()
                self._queue.clear()
                loading.cancel()
                mail.cancel()
                self._servers.cancel()
                for aside in self._asides:
                    aside.cancel()
                self._turns.cancel()
                self._own.kill()
                if self._work is not None:
                    await self._work
                await self._turns.close()
        show_way_back(self._turns.stored_id)
        if self._turns.is_stuck:
            leave(self._exit_code)
        return self._exit_code

    def _take(self, text: str) -> None:
        """Take a line that was typed."""
        command = slash_command(text)
        is_turn = self._turns.takes_steering
        is_own = text.startswith(MARK) and is_there()
        if not text.strip():
            self._show_prompt()
        elif is_own and is_turn:
            show_notice("`!` has to wait until the turn is over; Ctrl+C ends it")
        elif is_turn and command is None:
            self._steer(text)
        elif self._work is not None and not is_turn:
            self._waiting.append(text)  # for what is being done, or is ending, it comes too late
        else:
            self._show_typed(text)
            if is_own:
                self._start(self._own.run(text.removeprefix(MARK)))
            elif command is None:
                if not self._asks_about(text):
                    self._start(self._run_prompt(text))
            else:
                self._obey(command)

    def _asks_about(self, text: str) -> bool:
        """Whether a line may be meant as a command, and is not the same as the one before."""
        before, self._asked_about = self._asked_about, text.strip()
        meant = find_meant(text, self._commands.list_own())
        if not meant or before == self._asked_about:
            return False
        again = " The" if meant.endswith("?") else "; the"
        show_notice(f"`{self._asked_about}` is not sent: {meant}{again} same again sends it")
        self._show_prompt()
        return True

    def _keep_for_later(self, text: str) -> bool:
        """Tab: have a line wait until what is being done is over; whether it does."""
        if self._work is None:
            return False
        self._queue.add(text)
        return True

    async def _run_prompt(self, text: str) -> None:
        """Run a turn with what was typed and what that attaches."""
        from amplifier_app.attached.attaching import make_prompt

        attached = await self._attached.read(text)
        await self._turns.run(make_prompt(self._own.add_to(text), attached))

    def _run_queued(self) -> None:
        """Prompts wait that other processes have sent."""
        if self._work is None and not self._exit_code:
            show_notice("runs a prompt that was queued")
            self._start(self._turns.run(None, is_queued=True))

    def _give_back(self) -> None:
        """Another process asks to go on with the session."""
        if self._work is None:
            show_notice("another terminal goes on with the session")
            self._lines.end()
        else:
            self._is_asked_for = True
            show_notice("another terminal gets the session when the turn is over; Ctrl+C ends it")

    def _steer(self, text: str) -> None:
        try:
            steering = self._attached.write_steering(text)
            if steering is None:
                show_notice("a line with an image waits until the turn is over")
                self._waiting.append(text)
                return
            show_notice(f"steering: {self._lines.fold(text)}")
            self._turns.steer(steering)
        except Exception as error:  # noqa: BLE001 - of a loop that the user named
            report(error)

    def _start(self, work: Coroutine[object, object, None]) -> None:
        self._is_interrupted = False
        self._work = asyncio.create_task(self._run_reporting(work))

    def _show_prompt(self) -> None:
        if self._work is None:
            self._lines.show_prompt()

    async def _run_reporting(self, work: Coroutine[object, object, None]) -> None:
        """Do one thing after the other; no failure ends the conversation."""
        try:
            await _run_reporting(work)
        finally:
            self._work = None
            if self._is_asked_for:
                self._give_back()
            self._show_prompt()
        while self._waiting and self._work is None:
            self._take(self._waiting.popleft())
        if self._is_interrupted:
            self._queue.put_back()
        if self._is_asked_for:
            return  # what waits is for the session that another process goes on with
        while self._work is None and (text := self._queue.take_first()) is not None:
            self._take(text)

    def _obey(self, typed: SlashCommand) -> None:
        """Begin to do what a slash command does."""
        try:
            command = self._commands.read(typed)
        except Failure as failure:
            report(failure)
            self._show_prompt()
            return
        is_turn = self._turns.takes_steering
        if is_turn and command.waits(typed.argument):
            show_notice(f"`{typed.name}` has to wait until the turn is over; Ctrl+C ends it")
            return
        work = self._run_command(command, typed.argument)
        if self._work is None:
            self._start(work)
        else:  # a turn goes on meanwhile
            aside = asyncio.create_task(_run_reporting(work))
            self._asides.add(aside)
            aside.add_done_callback(self._asides.discard)

    async def _run_command(self, command: Command, argument: str) -> None:
        shown = command.run(self._context, argument)
        lines = shown if isinstance(shown, Sequence) else await shown
        if lines:
            write_notice("\n".join(lines))

    def _show_typed(self, text: str) -> None:
        from amplifier_guard import TerminalText

        self._lines.show_typed(TerminalText.show(SECRETS.redact(self._lines.fold(text))))

    def _watch(self, conversation: Conversation) -> None:
        """Follow a conversation that begins."""
        self._servers.watch(conversation)
        self._status.watch(conversation)

    def _interrupt(self) -> None:
        """Ctrl+C."""
        if self._lines.is_lent:
            return
        before, self._pressed = self._pressed, -math.inf
        if (turn := self._turns.running) is not None:
            self._is_interrupted = True
            turn.interruption.press()
        elif self._own.is_running:
            self._is_interrupted = True
            self._own.interrupt()
        elif self._lines.clear():
            self._show_prompt()
        else:
            now = asyncio.get_running_loop().time()
            if now - before <= _SECONDS_OF_PAIR:
                self._lines.end()
                return
            self._pressed = now
            show_notice("press Ctrl+C again, or Ctrl+D, to end")
            self._show_prompt()

    def _stop(self) -> bool:
        """Esc: do what the first Ctrl+C does; whether something is being done."""
        turn = self._turns.running
        is_asked = turn is not None and turn.interruption.exit_code
        if not is_asked and (turn is not None or self._own.is_running):
            self._interrupt()
        return self._work is not None

    def _rewind(self) -> None:
        """Esc Esc."""
        if _REWIND in self._commands.list_own():
            self._take(_REWIND)

    def _end(self, name: str) -> None:
        """SIGTERM or SIGHUP."""
        self._exit_code = self._exit_code or 128 + getattr(signal, name)
        self._own.kill()
        if (turn := self._turns.running) is not None:
            turn.interruption.end(name)
        self._lines.end()


async def _run_reporting(work: Coroutine[object, object, None]) -> None:
    try:
        await work
    except Exception as error:  # noqa: BLE001 - the last place that can report it in one line
        report(error)
