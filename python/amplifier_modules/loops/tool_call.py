"""One tool call: judged by hooks and people, run, and answered."""

from __future__ import annotations

import copy
import logging
from collections.abc import Awaitable
from dataclasses import dataclass
from functools import partial
from types import CoroutineType
from typing import Any, cast

import anyio

from amplifier_core import world
from amplifier_core.events import TOOL_ERROR, TOOL_POST
from amplifier_core.left_behind import Steps, as_coroutine
from amplifier_core.llm_errors import InvalidToolCallError

from ..running.awaitable import awaitable_of
from ..running.failure import describe_error, format_error
from ..spawn.tasks import closing_seconds
from ..spending.account import Limit
from ..spending.budget import OverBudgetError
from ..tool.context import AskedBefore, QuestionPutOff
from ..tool.endings import ToolExitError, ends_turn, may_be_ctrl_c
from .answers.response import RequestedCall
from .boundary.call_approval import SAYS, CallQuestion, approval_timeout, needs_approval
from .boundary.call_context import TOOL_RESULT, TOOL_START, CallPlace, run_in_context
from .boundary.cancellation import (
    EXPIRED,
    begin_contained,
    contain_error,
    is_cancelled,
)
from .boundary.together import Together, absorb_own_cancellation
from .call_errors import (
    NO_NAME,
    PAST_LIMIT,
    DeniedByHookError,
    OutOfTimeError,
    ToolTimeoutError,
    TooManyCallsError,
    UnknownToolError,
    is_failure_of_tool,
    words_for_model,
)
from .tool_answer import (
    INTERRUPTED,
    INTERRUPTED_READING,
    NOT_STARTED,
    Answer,
    answer_of,
    as_text,
    fit_content,
    result_for_hooks,
)
from .turn_state import TurnState

logger = logging.getLogger(__name__)

_WAY_OUT = "make it `async def`, or use `@tool`"
_UNCHANGEABLE = frozenset((str, int, float, bool, type(None)))


@dataclass(frozen=True, slots=True)
class Repetition:
    """A call that was started before, in a process that ended while it ran."""

    unknown: dict[str, Any]
    """The message that says that its outcome is unknown."""
    warning: str | None
    """What a person reads who has to agree; None where it may run again by itself."""
    asked_before: AskedBefore | None = None
    """What it had asked, where its tool goes on with that and does nothing twice."""
    goes_on: bool = False
    """Whether its tool goes on with what it had asked, or had sub-agents do."""

    def describe_refusal(self, failure: Exception) -> dict[str, Any]:
        """Return the result of a call that does not run again: what is known, and what a person said."""
        said = str(failure)
        at = said.find(SAYS)
        if at < 0:
            return self.unknown
        return {**self.unknown, "content": f"{self.unknown['content']}\n{said[at:]}"}


class CallRun:
    """A call of a response, and its result as far as it is known."""

    # Slots, and no defaults in the class: these are read many times for each call.
    __slots__ = (
        "_about",
        "_place",
        "_state",
        "_together",
        "answer",
        "failure",
        "final_answer",
        "has_begun",
        "has_ended",
        "interrupt",
        "is_exclusive",
        "is_given_up",
        "is_past_limit",
        "is_put_off",
        "is_read_only",
        "limit",
        "repetition",
        "requested",
        "returned",
    )

    answer: Answer
    """The result; until the call has ended, a text that says how far it came."""
    has_begun: bool
    """Whether the tool was started."""
    has_ended: bool
    """Whether the answer is final."""
    limit: Limit | None
    """The limit that kept the call from running, if one did."""
    final_answer: str | None
    """The answer of the turn, if the tool gave it."""
    failure: Exception | None
    """Why the call failed; None for a tool that returned a failure."""
    interrupt: BaseException | None
    """What ends the turn: Ctrl+C."""
    is_given_up: bool
    """Whether it was ended because the answer of the model has failed."""
    repetition: Repetition | None
    """What it repeats; None for a call that was not started before."""
    is_put_off: bool
    """Whether it waits for a person who answers when the turn has ended; it has no result yet."""
    returned: Any
    """What the tool returned; None where it has not, or where hooks have put something in its place."""

    def __init__(
        self,
        requested: RequestedCall,
        state: TurnState,
        place: CallPlace,
        together: Together,
        group_id: str,
    ) -> None:
        """Prepare to run a call.

        Args:
            requested: What the model asked for.
            state: The turn.
            place: Where the calls of the response run.
            together: Runs the calls of the response, and whatever else runs at the same time.
            group_id: The id that all of them share.
        """
        tool = state.tools.get(requested.name)
        self.requested = requested
        self.answer = NOT_STARTED
        self.has_begun = self.has_ended = self.is_given_up = self.is_put_off = False
        self.limit = self.final_answer = self.failure = self.interrupt = self.repetition = None
        self.returned = None
        self.is_exclusive = getattr(tool, "parallel", True) is False
        """Whether no other call of the response may run at the same time."""
        self.is_read_only = getattr(tool, "read_only", False) is True
        """Whether the tool says that it changes nothing."""
        self.is_past_limit = False
        """Whether the response has as many calls before it as may run."""
        self._state = state
        self._place = place
        self._together = together
        self._about = {
            "tool_name": requested.name,
            "tool_call_id": requested.id,
            "parallel_group_id": group_id,
        }

    def is_stopping(self) -> bool:
        """Whether the call is cancelled with others."""
        return self.is_given_up or self._together.is_stopping

    async def run(self) -> None:
        """Run the call; only a cancellation of the turn is raised."""
        try:
            try:
                self.answer = await self._run_and_answer()
            except QuestionPutOff:
                self.is_put_off = True
                self._state.hooks.note_ended(self.requested.id)
                return
            except Exception as error:  # noqa: BLE001 -- it becomes the result
                await self.fail(error)
        except BaseException as error:
            if may_be_ctrl_c(error):
                # Raised in the task of the turn: there it ends what it should end.
                self.interrupt = error
                return
            if isinstance(error, GeneratorExit) or is_cancelled(self.is_stopping):
                raise
            if (absorbing := absorb_own_cancellation()) is not None:
                await absorbing()
            is_cancellation = isinstance(error, anyio.get_cancelled_exc_class())
            what = "was cancelled" if is_cancellation else f"raised `{type(error).__name__}`"
            await self.fail(ToolExitError(what, has_begun=self.has_begun))
        self.has_ended = True
        hooks = self._state.hooks
        if hooks.has_listeners(TOOL_RESULT):
            await hooks.emit(TOOL_RESULT, {**self._about, "message": self.make_message()})

    def make_message(self, note: str | None = None) -> dict[str, Any]:
        """Return the result as a message of the history, with a note behind it."""
        repetition, failure = self.repetition, self.failure
        is_refused = failure is not None and not self.has_begun and not self._goes_on
        if repetition is not None and failure is not None and is_refused:
            return repetition.describe_refusal(failure)
        content = self.answer.content
        if note is not None:
            content = fit_content(self._state.rules.max_bytes, self.answer.add_note(note))
        message: dict[str, Any] = {
            "role": "tool",
            "tool_call_id": self.requested.id,
            "name": self.requested.name,
            "content": content,
        }
        if self.answer.is_error:
            message["is_error"] = True
        return message

    async def fail(self, error: Exception) -> None:
        """Answer with an error, and emit it."""
        name = self.requested.name
        self.failure = error
        if is_failure_of_tool(error):
            logger.warning("tool `%s` failed: %s", name, format_error(error))
            logger.debug("traceback of tool `%s`", name, exc_info=error)
        text = fit_content(self._state.rules.max_bytes, words_for_model(name, error))
        self.answer = Answer(text, is_error=True)
        await self._state.hooks.emit(TOOL_ERROR, {**self._about, "error": describe_error(error)})

    async def _run_and_answer(self) -> Answer:
        call, state = self.requested, self._state
        hooks, rules, cancellation = state.hooks, state.rules, state.cancellation
        if cancellation.is_cancelled:
            return NOT_STARTED
        self._check_limit()
        tool_input: Any = _copy_arguments(call.arguments or {})
        question: CallQuestion | None = None
        about = {**self._about, "read_only": True} if self.is_read_only else self._about
        # What follows asks of the repetition itself: most calls are none.
        repetition = self.repetition
        goes_on = repetition is not None and repetition.goes_on
        asks = not goes_on and (
            needs_approval(state.tools.get(call.name), call.arguments) or self._warning is not None
        )
        if state.journal is not None and state.journal.questions.has_call(call.id):
            asks = True  # also where no hook asks any more: a person may have denied it
        is_judged = asks or not hooks.begin_unjudged(about)
        if is_judged:
            tool_input, question = await self._judge_call(about, tool_input, asks=asks)
        tool = self._find_runnable(tool_input)
        if is_judged and cancellation.is_cancelled:
            return NOT_STARTED
        if question is not None:
            tool_input = _use_approval(question, tool_input)
        is_final = ends_turn(call.name, tool, tool_input)
        # One that is repeated was counted when it was started first.
        ledger = None if repetition is not None else state.ledger
        if ledger is not None and (limit := ledger.take_tool_call()) is not None:
            self.limit = limit
            error = describe_error(OverBudgetError(limit.reason))
            await hooks.emit(TOOL_ERROR, {**self._about, "error": error})
            return Answer(f"Not run: {limit.reason}.", is_error=True)
        cancellation.tool_started(call.id, call.name)
        try:
            if hooks.has_listeners(TOOL_START):
                further = {"goes_on": True} if goes_on else {}
                about = {**self._about, "tool_input": tool_input, **further}
                verdict = await hooks.judge(TOOL_START, about)
                if verdict.denied:
                    raise DeniedByHookError(verdict.reason)
            run = partial(self._run, tool, tool_input)
            result = await run_in_context(
                self._place,
                self._about,
                run,
                self._together,
                self.is_stopping,
                # One that goes on was allowed to begin, by whoever had to be asked.
                is_approved=question is not None
                or (goes_on and needs_approval(tool, call.arguments)),
                asked_before=None if repetition is None else repetition.asked_before,
                continues_calls=getattr(tool, "continues_calls", False) is True,
            )
        finally:
            cancellation.tool_finished(call.id)
        if result is EXPIRED:
            seconds = rules.longest or 0
            raise ToolTimeoutError(call.name, seconds, is_read_only=self.is_read_only)
        # Hooks see a dump of the result, which takes 3 µs: without hooks there is none.
        has_listeners = hooks.has_listeners(TOOL_POST)
        try:
            answer = answer_of(result, rules.max_bytes)
            shown = result_for_hooks(result) if has_listeners else None
        except Exception:
            raise
        except BaseException as error:  # noqa: BLE001 -- of the result's code, such as `__str__`
            raise contain_error(error, self.is_stopping) from None
        before = answer
        if shown is None:
            hooks.note_ended(call.id)
        else:
            answer = await self._answer_after_hooks(tool_input, shown, answer)
        if answer is before:
            self.returned = result
        if is_final and not answer.is_error:
            self.final_answer = answer.text
        return answer

    @property
    def _goes_on(self) -> bool:
        """Whether the call goes on that another process has begun: nobody is asked about it again."""
        return self.repetition is not None and self.repetition.goes_on

    @property
    def _warning(self) -> str | None:
        """What a person has to know who is asked about the call."""
        return None if self.repetition is None else self.repetition.warning

    def _check_limit(self) -> None:
        """Refuse a call past the limit of calls of a response: that of the loop or its provider.

        Raises:
            TooManyCallsError: It is past the limit.
        """
        call = self.requested
        if self.is_past_limit:
            limit = f"{PAST_LIMIT} {self._state.rules.most_calls} tool calls"
            raise TooManyCallsError(call.name, limit)
        if call.problem is not None and call.problem.startswith(PAST_LIMIT):
            raise TooManyCallsError(call.name, call.problem)

    async def _judge_call(
        self, about: dict[str, Any], tool_input: dict[str, Any], *, asks: bool
    ) -> tuple[Any, CallQuestion | None]:
        """Return the arguments as hooks and people allow them, and what a person was asked.

        Raises:
            DeniedByHookError: They do not allow the call.
            Exception: What a hook raised.
        """
        if self.requested.problem is not None:
            about = {**about, "tool_input_error": self.requested.problem}
        tool = self._state.tools.get(self.requested.name)
        verdict = await self._state.hooks.judge_call(
            about,
            tool_input,
            needs_approval=asks,
            approval_timeout=approval_timeout(tool),
            warning=self._warning,
            has_begun=self._goes_on,
        )
        if verdict.denied:
            raise DeniedByHookError(verdict.reason)
        return verdict.tool_input, verdict.question

    def _find_runnable(self, tool_input: Any) -> Any:
        """Return the tool of a call that can be run with these arguments.

        Raises:
            Exception: Why it cannot.
        """
        call = self.requested
        if not call.name and not (call.problem or NO_NAME).startswith(NO_NAME):
            message = f"the call cannot be used: {call.problem}; write it again"
            raise InvalidToolCallError(message)
        if call.name not in self._state.tools:
            raise UnknownToolError(call.name, list(self._state.tools))
        if call.arguments is None:
            message = (
                f"the arguments of `{call.name}` cannot be used: {call.problem}; "
                "call it again with one complete JSON object"
            )
            raise InvalidToolCallError(message, tool_name=call.name)
        tool = self._state.tools[call.name]
        if not isinstance(tool_input, dict):
            found = type(tool_input).__name__
            message = f"a hook replaced the arguments by a `{found}` (must be an object)"
            raise TypeError(message)
        self._state.loop.arguments.check(call.name, tool, cast("dict[str, Any]", tool_input))
        return tool

    def _run(self, tool: Any, tool_input: dict[str, Any]) -> tuple[Awaitable[Any] | None, Any]:
        """Begin to run the tool, as `begin_contained` does."""
        name = self.requested.name
        ledger = self._state.ledger
        if ledger is not None and ledger.seconds_left() == 0:
            # Another call kept the event loop until now.
            self.limit = ledger.out_of_time()
            raise OutOfTimeError(name, self.limit.reason)
        self.has_begun = True
        self.answer = INTERRUPTED_READING if self.is_read_only else INTERRUPTED

        begin = partial(_begin_tool, name, tool, tool_input)
        if not world.is_real():
            begin = partial(world.outside, f"tool:{name}", begin)
        # A tool that waits for sub-agents may take as long to end as they.
        more = partial(closing_seconds, self._state.hooks.coordinator, self.requested.id)
        what, longest = f"tool `{name}`", self._state.rules.longest
        return begin_contained(begin, self.is_stopping, what, longest, more)

    async def _answer_after_hooks(
        self, tool_input: dict[str, Any], shown: dict[str, Any], answer: Answer
    ) -> Answer:
        """Return the answer as hooks leave it; `shown` is what they see of the result."""
        verdict = await self._state.hooks.judge(
            TOOL_POST, {**self._about, "tool_input": tool_input, "result": shown}
        )
        if verdict.denied:
            return Answer(f"Denied by hook: {verdict.reason}", is_error=True)
        replaced = shown if verdict.data is None else verdict.data.get("result", shown)
        # The kernel returns the same object unless a hook changed it; a hook that injects or asks
        # may return a copy.
        if replaced is shown or replaced == shown:
            return answer
        limit = self._state.rules.max_bytes
        return Answer(fit_content(limit, as_text(replaced, limit)), answer.is_error)


def _begin_tool(name: str, tool: Any, tool_input: dict[str, Any]) -> Steps:
    """Call a tool, and return its coroutine."""
    returned: Any = tool.execute(tool_input)
    if type(returned) is CoroutineType:
        return returned  # pyright: ignore[reportUnknownVariableType] -- of nearly all tools: to ask more of it takes three calls
    return as_coroutine(awaitable_of(returned, "execute", name, _WAY_OUT))


def _copy_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a copy that changes of the original do not reach."""
    if _UNCHANGEABLE.issuperset(map(type, arguments.values())):
        # The usual arguments: `deepcopy` of two of them takes 18 times as long.
        return dict(arguments)
    return copy.deepcopy(arguments)


def _use_approval(question: CallQuestion, tool_input: dict[str, Any]) -> dict[str, Any]:
    """Use the approval of a call; return its arguments as a copy that no hook has seen.

    Raises:
        DeniedByHookError: The approval is not for this call, or it has expired.
    """
    arguments = copy.deepcopy(tool_input)
    try:
        question.confirm(arguments)
    except PermissionError as denial:
        raise DeniedByHookError(str(denial)) from denial
    return arguments
