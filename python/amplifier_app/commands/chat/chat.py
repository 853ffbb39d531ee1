"""A conversation in the terminal: each line is a prompt, a command or, in a turn, steering."""

from __future__ import annotations

import asyncio
import signal
from collections import deque
from collections.abc import Coroutine
from typing import TYPE_CHECKING

from amplifier_app.commands.chat.init_prompt import write_init_prompt
from amplifier_app.commands.chat.own_command import MARK, OwnCommands, is_there
from amplifier_app.commands.chat.server_commands import ServerCommands
from amplifier_app.commands.chat.server_prompts import PREFIX
from amplifier_app.commands.chat.slash_commands import (
    SlashCommand,
    find_commands,
    help_text,
    slash_command,
)
from amplifier_app.commands.chat.turns import Turns
from amplifier_app.commands.model_choice import AnsweringProvider, model_name
from amplifier_app.failure import Failure, report
from amplifier_app.interrupt import leave, listening
from amplifier_app.known_secrets import SECRETS
from amplifier_app.notice import show_notice, write_notice
from amplifier_app.sessions.keeping import show_way_back
from amplifier_app.sessions.mail import watch_mail

if TYPE_CHECKING:
    from amplifier_app.commands.order import Order
    from amplifier_app.line_input.lines import Lines

MODES = ("auto", "ask", "review", "read-only", "plan")
"""What `/mode` may be followed by; the module that has them is imported with the first turn."""
_OFF = ("off", "none", "clear")
"""What `/goal` is followed by where it ends the goal."""
_WORDS = {"exit": "/quit", "quit": "/quit", ":q": "/quit", "?": "/help"}
"""Words that mean a command, typed alone."""
_OF_CHANGES = ("/undo", "/redo", "/diff")
"""Those about what was changed in the project."""


class Chat:
    """Takes what a person types, until that person, the terminal or a signal ends it.

    Args:
        order: The folder, the model and the modules; its prompt is not used.
        answering: The provider that answers.
        lines: Where the lines come from.
    """

    def __init__(self, order: Order, answering: AnsweringProvider, lines: Lines) -> None:
        self._lines = lines
        self._commands = find_commands(order.named)
        self._servers = ServerCommands(lines.offer_commands)
        self._turns = Turns(
            order, answering, lines, lambda: self._end("SIGHUP"), self._servers.watch
        )
        self._work: asyncio.Task[None] | None = None
        self._mode_change: asyncio.Task[None] | None = None
        self._shows_mode = order.mode is not None
        """Whether somebody chose a mode."""
        self._next_mode: str | None = None
        """The mode that was chosen and is not yet used."""
        self._own = OwnCommands(order.folder)
        self._waiting: deque[str] = deque()
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
                    self._take, self._interrupt, self._choose_next_mode, self._name_mode
                )
                if not is_open and not self._exit_code:
                    self._exit_code = 128 + signal.SIGHUP
            finally:
                loading.cancel()
                mail.cancel()
                self._servers.cancel()
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
        command = slash_command(_WORDS.get(text.strip().lower(), text))
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
                self._start(self._turns.run(self._own.add_to(text)))
            elif (change := self._start_change(command)) is None:
                self._answer(command)
            elif is_turn:
                change.close()
                show_notice(f"`{command.name}` has to wait until the turn is over; Ctrl+C ends it")
            else:
                self._start(change)

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
        show_notice(f"steering: {text}")
        try:
            self._turns.steer(text)
        except Exception as error:  # noqa: BLE001 - of a loop that the user named
            report(error)

    def _start(self, work: Coroutine[object, object, None]) -> None:
        self._work = asyncio.create_task(self._run_reporting(work))

    def _show_prompt(self) -> None:
        if self._work is None:
            self._lines.show_prompt()

    async def _run_reporting(self, work: Coroutine[object, object, None]) -> None:
        """Do one thing after the other; no failure ends the conversation."""
        try:
            await work
        except Exception as error:  # noqa: BLE001 - the last place that can report it in one line
            report(error)
        finally:
            self._work = None
            if self._is_asked_for:
                self._give_back()
            self._show_prompt()
        while self._waiting and self._work is None:
            self._take(self._waiting.popleft())

    def _start_change(self, command: SlashCommand) -> Coroutine[object, object, None] | None:
        """What a command does between two turns; None if it changes nothing."""
        if command.name == "/model" and command.argument:
            return self._use_model(command.argument)
        if command.name == "/continue":
            return self._turns.run(None)
        if command.name == "/init" and command.name in self._commands:
            return self._turns.run(write_init_prompt(command.argument))
        if command.name.startswith(PREFIX):
            return self._servers.run_prompt(command, self._turns)
        if command.name == "/goal" and command.argument.lower() not in ("", *_OFF):
            return self._turns.pursue(command.argument)
        if command.name in _OF_CHANGES and command.name in self._commands:
            return self._answer_changes(command)
        return self._clear() if command.name == "/clear" else None

    async def _use_model(self, name: str) -> None:
        await self._turns.use_model(name)
        show_notice(f"`{name}` answers from now on")

    async def _clear(self) -> None:
        await self._turns.clear()
        show_notice("a new conversation begins")

    async def _answer_changes(self, command: SlashCommand) -> None:
        from amplifier_app.commands.changes.in_conversation import answer_command

        conversation = await self._turns.open()
        lines = await answer_command(command.name, command.argument, conversation)
        write_notice("\n".join(lines))

    def _answer(self, command: SlashCommand) -> None:
        """Obey a command that changes nothing."""
        if command.name == "/quit":
            self._lines.end()
            return
        if command.name == "/mcp":
            if self._work is None:
                self._start(self._servers.show(command.argument, self._turns))
            else:  # a turn goes on meanwhile
                self._servers.show_aside(command.argument, self._turns)
        elif command.name not in self._commands:
            hint = f"there are {', '.join(f'`{name}`' for name in self._commands)}"
            report(Failure(f"there is no command `{command.name}`", hint=hint))
        elif command.name == "/help":
            write_notice(help_text(self._commands, self._servers.describe_prompts()))
        elif command.name == "/skills":
            self._answer_skills()
        elif command.name == "/jobs":
            self._answer_jobs(command.argument)
        elif command.name == "/model":
            show_notice(f"the model is {model_name(self._turns.order, self._turns.answering)}")
        elif command.name == "/mode":
            self._answer_mode(command.argument)
        elif command.name == "/goal":
            show_notice(self._withdraw_goal(command))
        elif command.name == "/cost":
            for line in self._turns.sums:
                show_notice(line)
        self._show_prompt()

    def _answer_mode(self, argument: str) -> None:
        """Show the mode, or begin to change it, which takes effect at the next call."""
        mode = argument.lower()
        if not mode:
            show_notice(f"the mode is {self._turns.mode or 'the usual one'}")
        elif mode in MODES:
            self._choose_mode(mode)
            show_notice(f"the mode is {mode} from now on")
        else:
            hint = f"there are {', '.join(f'`{name}`' for name in MODES)}"
            report(Failure(f"there is no mode `{argument}`", hint=hint))

    def _choose_next_mode(self) -> None:
        """Shift+Tab: the mode after this one; before it is known, after the widest, so that none is wider."""
        mode = self._next_mode or self._turns.mode or MODES[0]
        self._choose_mode(MODES[(MODES.index(mode) + 1) % len(MODES)])

    def _choose_mode(self, mode: str) -> None:
        self._next_mode, self._shows_mode = mode, True
        if self._mode_change is None or self._mode_change.done():
            self._mode_change = asyncio.create_task(self._use_modes())

    async def _use_modes(self) -> None:
        """Go on in the mode that was chosen last: one change after the other."""
        while (mode := self._next_mode) is not None:
            try:
                await self._turns.use_mode(mode)
            finally:
                if self._next_mode == mode:
                    self._next_mode = None

    def _name_mode(self) -> str:
        """Return the mode that the prompt shows, once somebody chose one."""
        if self._next_mode is not None:
            return self._next_mode
        return (self._turns.mode or "") if self._shows_mode else ""

    def _answer_skills(self) -> None:
        from amplifier_app.commands.chat.listed_skills import write_skills

        write_notice("\n".join(write_skills(self._turns.order.folder)))

    def _answer_jobs(self, argument: str) -> None:
        from amplifier_app.commands.chat.background_jobs import answer_jobs

        try:
            write_notice("\n".join(answer_jobs(argument, self._turns.find_capability)))
        except Failure as failure:
            report(failure)

    def _withdraw_goal(self, command: SlashCommand) -> str:
        """Withdraw the goal if that is asked for, and return the notice about it."""
        goal = self._turns.goal
        if goal is None:
            return "there is no goal; `/goal TEXT` sets one"
        if not command.argument:
            return f"the goal is: {goal}"
        self._turns.goal = None
        return "the goal is withdrawn"

    def _show_typed(self, text: str) -> None:
        from amplifier_guard import TerminalText

        self._lines.show_typed(TerminalText.show(SECRETS.redact(text)))

    def _interrupt(self) -> None:
        """Ctrl+C."""
        if (turn := self._turns.running) is not None:
            turn.interruption.press()
        elif self._own.is_running:
            self._own.interrupt()
        else:
            if not self._lines.clear():
                show_notice("press Ctrl+D or type `/quit` to end")
            self._show_prompt()

    def _end(self, name: str) -> None:
        """SIGTERM or SIGHUP."""
        self._exit_code = self._exit_code or 128 + getattr(signal, name)
        self._own.kill()
        if (turn := self._turns.running) is not None:
            turn.interruption.end(name)
        self._lines.end()
