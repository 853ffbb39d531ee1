"""A call that a server has not answered yet: its time, its progress, and where it can ask."""

from __future__ import annotations

import contextvars
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any, TypeVar

import anyio

from amplifier_guard import TerminalText
from amplifier_modules.running.background import start_task
from amplifier_modules.tool.context import PersonAnswer, ToolContext, ask_nobody, find_context

T = TypeVar("T")

AskAndKeep = Callable[
    [ToolContext[Any], str, Mapping[str, Any], Sequence[str]], Awaitable[PersonAnswer]
]

MAX_QUESTIONS = 20
"""How often a call may ask a person."""
_MAX_PROGRESS_CHARS = 500


class OpenCall:
    """One call, until it is answered, given up or cancelled."""

    is_lost = False
    """Whether its connection was lost."""
    ask_and_keep: AskAndKeep | None = None
    """Asks a person so that another process can go on with the call; None where none can."""

    def __init__(self, seconds: float) -> None:
        """Begin a call, in the task that makes it.

        Args:
            seconds: How long it may take without progress.
        """
        self.tool_context: ToolContext[Any] | None = find_context()
        """What our loop knows of the call; None outside of a turn."""
        self.scope = anyio.CancelScope(deadline=anyio.current_time() + seconds)
        """Ends the call."""
        self.questions = 0
        """How often it has asked a person."""
        self._seconds = seconds
        self._holds = 0
        self._context = contextvars.copy_context()
        self._asking: set[anyio.CancelScope] = set()

    def note_lost(self) -> None:
        """End the call, as its connection is lost."""
        self.is_lost = True
        self.scope.cancel()

    def close(self) -> None:
        """Withdraw the questions that are still asked."""
        for scope in self._asking:
            scope.cancel()

    async def ask(
        self, question: str, about: Mapping[str, Any], parts: Sequence[str]
    ) -> PersonAnswer:
        """Ask a person.

        Raises:
            QuestionPutOff: The answer comes when the turn has ended.
        """
        if self.tool_context is None:
            return await ask_nobody(question, about)
        if self.ask_and_keep is not None:
            return await self.ask_and_keep(self.tool_context, question, about, parts)
        return await self.tool_context.ask(question, about, parts=parts)

    async def report(self, progress: float, total: float | None, message: str | None) -> None:
        """Take a report of the server: the call is alive."""
        self._renew()
        if self.tool_context is None:
            return
        fraction = progress / total if total and 0 <= progress <= total else None
        text = message or (f"{progress:g} of {total:g}" if total else f"{progress:g}")
        self.tool_context.progress(TerminalText.line(text, _MAX_PROGRESS_CHARS), fraction)

    @contextmanager
    def hold(self) -> Generator[None]:
        """Let no time pass for the call in this block."""
        self._holds += 1
        self.scope.deadline = inf
        try:
            yield
        finally:
            self._holds -= 1
            self._renew()

    async def run_inside(self, function: Callable[[], Awaitable[T]]) -> T:
        """Run a function as if the task of the call did, whose limits and questions are its own.

        Raises:
            Exception: What the function raised.
        """
        returned: list[T] = []
        raised: list[Exception] = []
        is_over = anyio.Event()
        scope = anyio.CancelScope()

        async def run() -> None:
            with scope:
                try:
                    returned.append(await function())
                except Exception as error:  # noqa: BLE001 -- it is raised below
                    raised.append(error)
            is_over.set()

        self._asking.add(scope)
        self._context.copy().run(start_task, run)
        try:
            await is_over.wait()
        finally:
            scope.cancel()
            self._asking.discard(scope)
        if raised:
            raise raised[0]
        return returned[0]

    def _renew(self) -> None:
        if not self._holds:
            self.scope.deadline = anyio.current_time() + self._seconds
