"""The turns of a conversation in the terminal: what they are shown on, and what carries over."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from amplifier_app.commands.model_choice import AnsweringProvider, find_answering_provider
from amplifier_app.commands.provider_choice import chosen_model
from amplifier_app.commands.provider_key import stored_key
from amplifier_app.failure import report
from amplifier_app.notice import show_notice
from amplifier_app.telemetry import export_telemetry
from amplifier_core.session_capabilities import APPROVAL_POLICY

if TYPE_CHECKING:
    from amplifier_agent import Prompt
    from amplifier_app.commands.conversation import Conversation
    from amplifier_app.commands.order import Order
    from amplifier_app.commands.turn import Turn
    from amplifier_app.display.screen import Screen
    from amplifier_app.line_input.lines import Lines
    from amplifier_app.sessions.resume import StoredSession
    from amplifier_app.usage import TurnSums
    from amplifier_providers.prompt.watch import SessionPrompts

_NEEDED = (
    "amplifier_app.display.session_display",
    "amplifier_agent.agent",
    "amplifier_app.commands.conversation",
    "amplifier_providers.anthropic.provider",
    "amplifier_modules.loops.streaming",
)
_SECONDS_TO_SHOW = 0.1
"""The prompt is on the screen before that."""


class Turns:
    """Runs one turn after the other; what a session needs is loaded with the first.

    Args:
        order: The folder, the model and the modules; its prompt is not used.
        answering: The provider that answers.
        lines: Where it is shown, and what a question has to suspend.
        hang_up: Called when nothing more can be shown.
        prepare: Called with each conversation that begins.
    """

    def __init__(
        self,
        order: Order,
        answering: AnsweringProvider,
        lines: Lines,
        hang_up: Callable[[], object],
        prepare: Callable[[Conversation], object] = lambda _: None,
    ) -> None:
        self._order = order
        self.answering = answering
        """The provider of the next turn."""
        self._lines = lines
        self._hang_up = hang_up
        self._prepare = prepare
        self._resources = contextlib.ExitStack()
        self._screen: Screen | None = None
        self._sums: TurnSums | None = None
        self._conversation: Conversation | None = None
        self._messages: Sequence[Mapping[str, Any]] = ()
        self._prompts: SessionPrompts | None = None
        """What the requests so far have begun with, for a session that goes on with them."""
        self._session_id = None if order.stored is None else order.stored.id
        self._knows_goal = False
        """Whether the order says what the goal is, and not the stored session."""
        self._turn: Turn | None = None
        self.is_stuck = False
        """Whether something of a turn could not be ended."""

    @property
    def order(self) -> Order:
        """What the next turn runs on."""
        return self._order

    @property
    def conversation(self) -> Conversation | None:
        """The session that goes on; None before the first turn, and between two sessions."""
        return self._conversation

    @property
    def running(self) -> Turn | None:
        """The turn that runs."""
        return self._turn

    @property
    def journal(self) -> Any:
        """What stores the session; None while nothing of it is stored."""
        return None if self._conversation is None else self._conversation.journal

    @property
    def takes_steering(self) -> bool:
        """Whether a turn runs that neither ends nor is being ended."""
        if self._turn is None or self._conversation is None:
            return False
        return self._conversation.takes_steering and not self._turn.interruption.exit_code

    @property
    def goal(self) -> str | None:
        """The goal that turns pursue; None for none."""
        return self._order.goal if self._conversation is None else self._conversation.goal

    @goal.setter
    def goal(self, goal: str | None) -> None:
        self._order, self._knows_goal = replace(self._order, goal=goal), True
        if self._conversation is not None:
            self._conversation.goal = goal

    @property
    def mode(self) -> str | None:
        """The mode of the approvals; None while it is not known, or where they are not mounted."""
        policy = self.find_capability(APPROVAL_POLICY)
        return self._order.mode if policy is None else policy.mode

    async def use_mode(self, mode: str) -> None:
        """Go on in another mode, at once."""
        self._order = replace(self._order, mode=mode, is_mode_asked=True)
        policy = self.find_capability(APPROVAL_POLICY)
        if policy is not None:
            await policy.set_mode(mode)
        elif self._conversation is not None:
            self._conversation.late_mode = mode

    @property
    def stored_id(self) -> str | None:
        """The id by which the conversation can go on later; None if nothing of it is stored."""
        if self._conversation is None:
            return self._session_id
        return self._conversation.stored_id or self._session_id

    def find_capability(self, name: str) -> Any:
        """Return what a module of the session has registered; None while there is none."""
        return None if self._conversation is None else self._conversation.find_capability(name)

    async def pursue(self, goal: str) -> None:
        """Set the goal, and run a turn that goes on until it is reached.

        Raises:
            Exception: What keeps a turn from starting.
        """
        self.goal = goal
        await self.run(goal)

    @property
    def sums(self) -> list[str]:
        """What the turns used so far, in lines."""
        return ["no tokens so far"] if self._sums is None else self._sums.write_lines()

    async def load(self) -> None:
        """Import what the first turn needs, while its prompt is being typed."""
        from amplifier_app.lazy_trio import import_httpcore

        await asyncio.sleep(_SECONDS_TO_SHOW)
        # What cannot be imported fails the turn, which says why.
        with contextlib.suppress(Exception):
            import_httpcore()
            for name in _NEEDED:
                importlib.import_module(name)
                await asyncio.sleep(0)  # what is typed is shown between two of them

    async def run(self, prompt: Prompt | None, *, is_queued: bool = False) -> None:
        """Run a turn; what goes wrong in it is reported.

        Args:
            prompt: What the user says; None to go on with the turn that was not finished.
            is_queued: Whether the prompt is the next one that another process has sent.

        Raises:
            Exception: What keeps a turn from starting.
        """
        from amplifier_app.commands.turn import Turn

        screen = self._shown_screen()
        conversation = self._conversation = self._conversation or self._begin(screen)
        turn = self._turn = Turn(conversation, prompt, lambda _: None, is_queued=is_queued)
        animation = asyncio.create_task(screen.animate())
        try:
            outcome = await turn.end()
        finally:
            self._turn = None
            animation.cancel()
        if outcome.has_answer:
            conversation.output.answer(outcome.text)
        conversation.output.finish()
        screen.end_line()
        if self._sums is not None:
            self._sums.add(conversation.result)
        if turn.problem is not None:
            report(turn.problem)
            if self.goal is not None:
                show_notice("the goal stays; `/goal off` withdraws it")
        if turn.is_stuck or not conversation.is_usable:
            self.is_stuck = self.is_stuck or turn.is_stuck
            await self._carry_over()

    async def open(self) -> Conversation | None:
        """Return the conversation, at rest; None if it has not begun.

        Raises:
            Exception: What keeps a session that is stored from going on.
        """
        if self._conversation is None and self._session_id is None:
            return None
        return await self.begin()

    async def begin(self) -> Conversation:
        """Return the conversation, at rest; it begins where it has not.

        Raises:
            Exception: What keeps a session from starting.
        """
        if self._conversation is None:
            self._conversation = self._begin(self._find_screen())
        conversation = self._conversation
        try:
            await conversation.open()
        except BaseException:
            await self._carry_over()
            raise
        return conversation

    def steer(self, text: str) -> None:
        """Say something to the turn that runs.

        Raises:
            Exception: The loop takes no messages, or no more of them.
        """
        if self._conversation is not None:
            self._conversation.steer(text)

    def cancel(self) -> None:
        """End the turn that runs, without a notice."""
        if self._turn is not None:
            self._turn.withdraw()

    async def use_model(self, name: str) -> None:
        """Use another model, also of another provider, from now on, in the same conversation.

        Raises:
            Failure: There is no key for it, or no such provider.
        """
        # In a thread, as the keyring may wait for a person.
        order, answering = await asyncio.to_thread(_with_model, self._order, name)
        await self._carry_over()
        hooks = self._order.hooks
        self._order, self.answering = replace(order, hooks=hooks), answering

    async def close_stored(self) -> str | None:
        """Close the session, which goes on with the next turn, and return its id if it is stored."""
        await self._carry_over()
        return self._session_id

    async def go_on_with(self, stored: StoredSession, *, keeps_mode: bool) -> None:
        """Go on with another session from the next turn on; this one stays stored.

        Args:
            stored: The session.
            keeps_mode: Whether the mode of this one counts there, too.
        """
        await self._close()
        self._messages, self._session_id, self._prompts = (), stored.id, None
        asks = keeps_mode and self._order.is_mode_asked
        self._order = replace(self._order, stored=stored, name=None, goal=None, is_mode_asked=asks)
        self._knows_goal = False

    async def read_messages(self) -> Sequence[Mapping[str, Any]]:
        """Return what was said so far, between two turns.

        Raises:
            Exception: What keeps a session that is stored from going on.
        """
        conversation = await self.open()
        return self._messages if conversation is None else await conversation.messages()

    async def rename(self, name: str) -> None:
        """Give the session a name, at once or when it begins.

        Raises:
            Exception: It cannot be stored.
        """
        self._order = replace(self._order, name=name)
        if self._session_id is not None or self.journal is not None:
            conversation = await self.begin()
            if conversation.journal is not None:
                await conversation.journal.rename(name)

    async def clear(self) -> None:
        """Begin a new conversation with the next turn."""
        await self._close()
        self._messages, self._session_id, self._prompts = (), None, None
        self._order = replace(self._order, stored=None, name=None)
        self.goal = None

    async def close(self) -> None:
        """End the conversation, and free what it needed."""
        try:
            await self._close()
        finally:
            self._resources.close()

    async def _carry_over(self) -> None:
        """Let the next turn go on in a new session."""
        if self._conversation is not None:
            self._messages = await self._conversation.messages() or self._messages
            self.goal = self._conversation.goal
            await self._close()

    async def _close(self) -> None:
        self._order = replace(self._order, mode=self.mode, is_mode_asked=True)
        conversation, self._conversation = self._conversation, None
        if conversation is not None:
            self._prompts = conversation.prompts
            await conversation.close()
            if self._screen is not None:
                self._screen.show_rows(())
            self._session_id = self._session_id or conversation.stored_id

    def _find_screen(self) -> Screen:
        from amplifier_app.display.screen import Screen

        if self._screen is None:
            self._screen = Screen(self._lines.stdout, put_rows=self._lines.show_rows)
        return self._screen

    def _shown_screen(self) -> Screen:
        """The screen, with a waiting line on it already."""
        screen = self._find_screen()
        screen.write_line()
        screen.wait_for("starting" if self._conversation is None else "waiting for the model")
        screen.tick()
        return screen

    def _begin(self, screen: Screen) -> Conversation:
        """Make a session that goes on with the conversation.

        Raises:
            Exception: What keeps it from being made.
        """
        from amplifier_app.lazy_trio import import_httpcore

        import_httpcore()
        from amplifier_app.commands.conversation import Conversation
        from amplifier_app.display import Display
        from amplifier_app.usage import TurnSums

        try:
            if self._sums is None:
                hooks = self._resources.enter_context(export_telemetry(os.environ))
                self._order = replace(self._order, hooks=tuple(hooks))
                self._sums = TurnSums()
            display = Display(screen)
            conversation = Conversation(
                self._order,
                self.answering,
                display,
                messages=self._messages if self._session_id is None else (),
                session_id=self._session_id,
                restores_goal=not self._knows_goal,
                asking=self._lines.suspend,
                prompts=self._prompts,
            )
        except BaseException:
            screen.wait_for("")
            screen.flush()
            raise
        conversation.output.call_on_failure(self._hang_up)
        self._prepare(conversation)
        return conversation


def _with_model(order: Order, name: str) -> tuple[Order, AnsweringProvider]:
    """Return an order for another model, and who answers it.

    Raises:
        Failure: There is no key for it, or no such provider.
    """
    choice = chosen_model(name, order.named, os.environ, stored_key)
    order = replace(order, model=choice.model, provider=choice.provider.name)
    return order, find_answering_provider(order)
