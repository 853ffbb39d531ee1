"""What a tool can know of the call that it answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, cast

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from amplifier_core import AmplifierSession

    StateT = TypeVar("StateT", default=Any)
else:
    # Without the default, which only type checkers read: importing its library takes a while.
    from typing import TypeVar

    StateT = TypeVar("StateT")


@dataclass(frozen=True)
class PersonAnswer:
    """What a person says to the question of a tool."""

    is_yes: bool
    reason: str = ""
    """Why it is no, in the person's words, or why nobody was asked."""
    parts: tuple[str, ...] | None = None
    """The parts that a yes is about; None for all."""
    for_session: bool = False
    """Whether a yes is also about what the question has offered until the session is closed."""
    is_answered: bool = True
    """Whether somebody has answered; else nobody could be asked, or the time was over."""
    words: str = ""
    """What the person said to a no, or to the parts that a yes leaves out; empty where nothing."""


class QuestionPutOff(Exception):
    """A person is asked about a call, and answers when the turn has ended."""


@dataclass(frozen=True)
class AskedBefore:
    """What a call has asked in a process that ended before it was over."""

    question: str
    about: Mapping[str, Any]
    parts: Sequence[str]
    resume: Mapping[str, Any]
    """What the tool gave to go on with."""
    hash: str
    """The hash of the effect that was shown."""
    is_answered: bool = False
    """Whether the call had its answer there: nobody knows how far it has got with it."""


@dataclass(frozen=True)
class Continuation:
    """What a tool needs to go on with its call in another process, once a person has answered."""

    resume: Mapping[str, Any]
    """JSON, which is stored with the question."""
    hash: str = ""
    """The hash of the effect that is shown."""


class Steps(Protocol):
    """Where it is stored how far calls are: a journal."""

    def find_step(self, call_id: str) -> Any:
        """Return how far a call is; None for its beginning."""
        ...

    async def keep_step(self, call_id: str, step: Mapping[str, Any]) -> None:
        """Store how far a call is."""
        ...


class Ask(Protocol):
    """Asks a person about something, about parts of it, and about what lasts for the session."""

    def __call__(
        self,
        question: str,
        about: Mapping[str, Any],
        parts: Sequence[str] = (),
        continuation: Continuation | None = None,
        for_session: str = "",
        /,
    ) -> Awaitable[PersonAnswer]:
        """Ask."""
        ...


async def ask_nobody(
    _question: str,
    _about: Mapping[str, Any],
    _parts: Sequence[str] = (),
    _continuation: Continuation | None = None,
    _for_session: str = "",
    /,
) -> PersonAnswer:
    """Return a no, where nobody can be asked."""
    return PersonAnswer(is_yes=False, reason="nobody could be asked", is_answered=False)


class ToolContext(Generic[StateT]):
    """One call of a tool: its id, its session, and a way to report its progress.

    A function gets it as its first parameter if that is annotated `ToolContext` or
    `ToolContext[State]`; any other tool calls `ToolContext.current()`.
    """

    def __init__(
        self,
        call_id: str,
        key: str,
        coordinator: Any,
        state: Any,
        report: Callable[[dict[str, Any]], None],
        approved: str | None = None,
        epoch: int = 0,
        ask: Ask = ask_nobody,
        asked_before: AskedBefore | None = None,
        *,
        keeps_questions: bool = False,
        can_go_on: bool = False,
        steps: Steps | None = None,
    ) -> None:
        """Describe a call; loops do this.

        Args:
            call_id: The id that the model gave the call.
            key: What stays the same when the call is repeated.
            coordinator: The session's coordinator; None without a session.
            state: What the session was given as `state`.
            report: Takes the progress of the call, from any thread.
            approved: The tool whose call a person agreed to, with exactly these arguments.
            epoch: How often the session was claimed in its store; 0 without one.
            ask: Asks a person while the call runs.
            asked_before: What it has asked in another process, where it goes on with that.
            keeps_questions: Whether questions are stored that can be gone on with.
            can_go_on: Whether they are, and the tool says `continues_calls`.
            steps: Where it is stored how far the call is; None for nowhere.
        """
        self._ask = ask
        self.asked_before = asked_before
        """What the call has asked in a process that ended; None for a call that begins.

        Only tools with `continues_calls` get it: they ask it again, and do nothing twice.
        """
        self.keeps_questions = keeps_questions
        """Whether a question with a `continuation` outlives the process."""
        self._steps = steps
        self.kept_step: Any = None if steps is None else steps.find_step(call_id)
        """How far the call was in a process that ended, as `keep_step` was told; None if it began."""
        self.can_go_on = can_go_on
        """Whether another process can go on with the call, and with the sub-agents that it waits for."""
        self.call_id = call_id
        """The id that the model gave the call."""
        self.key = key
        """Stays the same when the call is repeated, so that its effect can be had only once."""
        self.epoch = epoch
        """How often the session was claimed in its store, this time included; 0 without a store.

        What is shared by many processes can refuse a call whose epoch is lower than one that it has
        seen for the session: its process was taken for dead.
        """
        self._coordinator = coordinator
        self._state = state
        self._report = report
        self._approved = approved

    @classmethod
    def current(cls) -> ToolContext[Any]:
        """Return the context of the call that runs now.

        Raises:
            LookupError: No tool of one of our loops runs here.
        """
        try:
            return CURRENT.get()
        except LookupError:
            message = (
                "no tool call runs here: `ToolContext` exists while a loop of ours runs a tool"
            )
            raise LookupError(message) from None

    @property
    def coordinator(self) -> Any:
        """The coordinator of the session; None without one."""
        return self._coordinator

    @property
    def session(self) -> AmplifierSession:
        """The session that the call belongs to.

        Raises:
            LookupError: The loop runs without one.
        """
        session = getattr(self._coordinator, "session", None)
        if session is None:
            raise LookupError("this tool call belongs to no session")
        return cast("AmplifierSession", session)

    @property
    def state(self) -> StateT:
        """What the session was given as `state`."""
        return cast("StateT", self._state)

    def is_approved(self, tool: str) -> bool:
        """Whether a person agreed to this call of the tool, with exactly its arguments."""
        return self._approved == tool

    async def ask(
        self,
        question: str,
        about: Mapping[str, Any] | None = None,
        *,
        parts: Sequence[str] = (),
        continuation: Continuation | None = None,
        for_session: str = "",
    ) -> PersonAnswer:
        """Ask a person a question while the call runs; without anybody to ask it is no.

        Meanwhile no time passes for the call and for the budget of the turn. Somebody who does not
        answer in time says no.

        Args:
            question: What they read; it should be all that they decide about.
            about: The same as data, for programs that answer; it becomes the `arguments` of the
                question.
            parts: Names of what a person can also agree to alone; `arguments["parts"]` has them.
            continuation: With it the question is stored, and the call can be gone on with by a tool
                with `continues_calls`.
            for_session: Name of what a person can also agree to until the session is closed, which
                is the tool's to remember; empty for nothing.

        Raises:
            TypeError: The question is no text.
            QuestionPutOff: The question is stored, and the answer comes when the turn has ended:
                let it pass, and keep what is needed to go on.
        """
        if not isinstance(question, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- of a user
            raise TypeError(f"`question` is a `{type(question).__name__}` (must be text)")
        data = {**(about or {}), **({"parts": list(parts)} if parts else {})}
        return await self._ask(question, data, parts, continuation, for_session)

    async def ask_again(self, before: AskedBefore) -> PersonAnswer:
        """Ask what was asked in another process, as the same question; its answer may be there."""
        continuation = Continuation(before.resume, before.hash)
        return await self._ask(before.question, before.about, before.parts, continuation)

    async def keep_step(self, step: Mapping[str, Any]) -> None:
        """Store how far the call is: another process goes on from there, and no question before it.

        Only calls of tools with `continues_calls` in a session that is stored are kept.

        Args:
            step: JSON, which takes the place of what was kept before.

        Raises:
            StoreError: It is not stored.
        """
        if self._steps is not None:
            await self._steps.keep_step(self.call_id, step)

    @property
    def is_cancelled(self) -> bool:
        """Whether the turn is to end; a long function in a thread asks this between its steps."""
        token = getattr(self._coordinator, "cancellation", None)
        return getattr(token, "is_cancelled", False) is True

    def progress(self, message: str, fraction: float | None = None) -> None:
        """Tell how far the call is, as the event `tool:progress`; does not wait.

        Args:
            message: What is being done, for the user.
            fraction: How much of it is done, from 0 to 1.

        At most 30 reports a second become events; the last one of a call always does.

        Raises:
            TypeError: The message is no text.
            ValueError: The fraction is outside 0 to 1.
        """
        if not isinstance(message, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- of a user
            raise TypeError(f"`message` is a `{type(message).__name__}` (must be text)")
        if fraction is not None and not 0 <= fraction <= 1:
            raise ValueError(f"`fraction` is {fraction} (must be from 0 to 1, or None)")
        self._report({"message": message, "fraction": fraction})


CURRENT: ContextVar[ToolContext[Any]] = ContextVar("tool_context")
"""The context of the call that runs now; loops set it."""


async def ask_person(
    question: str,
    about: Mapping[str, Any],
    *,
    parts: Sequence[str] = (),
    continuation: Continuation | None = None,
    for_session: str = "",
) -> PersonAnswer:
    """Ask a person in the call that runs here, as `ToolContext.ask`; without one it is no."""
    try:
        context = ToolContext.current()
    except LookupError:
        return await ask_nobody(question, about)
    return await context.ask(
        question, about, parts=parts, continuation=continuation, for_session=for_session
    )


def find_context() -> ToolContext[Any] | None:
    """Return the context of the call that runs here; None without one."""
    return CURRENT.get(None)
