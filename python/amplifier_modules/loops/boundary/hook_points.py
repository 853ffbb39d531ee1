"""The points of a turn at which hooks observe, decide and inject."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, cast

import anyio

from amplifier_core import RustCoordinator
from amplifier_core.approval import ASKED_CALL, SESSION_GRANT, AskedCall, Offer, note_asker
from amplifier_core.coordinator import ModuleCoordinator
from amplifier_core.events import APPROVAL_REQUIRED, TOOL_ERROR, TOOL_POST, TOOL_PRE
from amplifier_core.models import HookResult
from amplifier_core.session_capabilities import (
    SESSION_JOURNAL,
    SESSION_QUESTIONS_KEPT,
    SESSION_TASK,
)
from amplifier_providers.running.listeners import emission_check, handler_check, listener_check

from ...running.failure import format_error
from ...spending.ledger import running_ledger
from ...tool.context import Continuation, PersonAnswer, QuestionPutOff
from .call_approval import (
    APPROVAL_TIMEOUT,
    CallQuestion,
    answer_event,
    asked_call,
    line_of_task,
    question_about,
    required_event,
    timeout_event,
    with_first_line,
    with_reply,
    with_seconds,
    within_seconds,
)
from .call_limit import CALL_LIMIT
from .cancellation import Shield, await_interruptibly, grace
from .injection import Injection, injections_of
from .kept_questions import (
    KeptQuestion,
    RunningCall,
    answer_as_result,
    keep_reply,
    lateness_as_result,
)
from .standing_approvals import StandingApprovals

logger = logging.getLogger(__name__)

_ENDS_OF_CALLS = frozenset((TOOL_POST, TOOL_ERROR))
_COORDINATORS = {RustCoordinator, ModuleCoordinator}
_NO_REASON = "no reason given"
_MAX_CHARS_OF_TOOLS = 16_000
"""Of a question that a tool asks, which may show the differences of files."""
_MAX_ROUNDS = 3
"""How often hooks may change the arguments of a call before a person is asked about it."""


@dataclass(frozen=True)
class Verdict:
    """What the hooks decided about one step."""

    denied: bool
    reason: str
    data: dict[str, Any] | None
    """The payload as the hooks left it; None if they cannot have changed it."""


_ALLOWED = Verdict(denied=False, reason="", data=None)


@dataclass(slots=True)
class CallVerdict:
    """What the hooks, and a person if they ask one, decided about a tool call."""

    denied: bool
    reason: str
    tool_input: Any
    """The arguments as the hooks left them."""
    question: CallQuestion | None = None
    """What a person was asked, if so; its approval must be confirmed before the call runs."""


class HookPoints:
    """The hooks of one turn, and the injections for the next request."""

    def __init__(self, hooks: Any, coordinator: Any, approval_timeout: float | None = None) -> None:
        """Use the registry; without a coordinator no approval is possible and nothing is stored.

        Args:
            hooks: The registry.
            coordinator: The coordinator, or None.
            approval_timeout: Seconds that a person has to answer where neither the hook nor the
                tool says so; None for no limit.
        """
        self._approval_timeout = approval_timeout
        self.registry = hooks
        """The hook registry of the session."""
        self.coordinator = coordinator
        """The session's coordinator; may be None."""
        self._approvals: anyio.Lock | None = None
        self._waiting: list[Injection] = []
        self._open_calls: dict[Any, Mapping[str, Any]] = {}
        """The calls whose `tool:pre` was emitted, and nothing that ends them."""
        self.has_listeners: Callable[[str], bool] = listener_check(hooks)
        """Whether emitting an event has an effect: where it has none, its data is not needed."""
        self.has_handlers: Callable[[str], bool] = handler_check(hooks)
        """Whether an event has handlers, and not only who listens to its data."""
        self._must_emit: Callable[[str, Any], bool] = emission_check(hooks)

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        """Emit an event that hooks can only observe."""
        if event in _ENDS_OF_CALLS:
            self.note_ended(data.get("tool_call_id"))
        if self._must_emit(event, data):
            await self._emit(event, data)

    def tell(self, event: str, data: dict[str, Any]) -> None:
        """Tell who listens to an event that has no handlers."""
        self._must_emit(event, data)

    async def notify(self, event: str, make_payload: Callable[[], dict[str, Any]]) -> None:
        """Emit an event that hooks can only observe; its payload is made where somebody listens.

        Most events of most turns have no listener. To ask for one takes 0.14 µs, a payload with the
        usage of an answer 2 µs.
        """
        if self.has_listeners(event):
            await self.emit(event, make_payload())

    async def emit_last(self, event: str, data: dict[str, Any]) -> None:
        """Emit an event that ends something, for a limited time also during cancellation."""
        with grace():
            await self.emit(event, data)

    def has_open_calls(self) -> bool:
        """Whether a call has begun and not ended."""
        return bool(self._open_calls)

    def note_ended(self, call_id: Any) -> None:
        """Take note that a call has ended, where no event says so."""
        self._open_calls.pop(call_id, None)

    def ends_of_open_calls(self, reason: str) -> Iterator[Awaitable[None]]:
        """Yield what emits `tool:error`, for each call that has begun and not ended."""
        while self._open_calls:
            call = self._open_calls.pop(next(iter(self._open_calls)))
            error = {"type": "CancelledError", "msg": reason}
            yield self.emit(TOOL_ERROR, {**call, "error": error})

    async def judge(
        self, event: str, data: dict[str, Any] | Callable[[], Awaitable[dict[str, Any]]]
    ) -> Verdict:
        """Let the hooks decide about a step, and keep their injections for the next request.

        Args:
            event: The event.
            data: Its payload, or what makes it, which is called where somebody listens.

        Raises:
            ValueError: An injection is longer than the session allows.
        """
        if callable(data):
            if not self.has_listeners(event):
                return _ALLOWED
            data = await data()
        if event in _ENDS_OF_CALLS:
            self.note_ended(data.get("tool_call_id"))
        if not self._must_emit(event, data):
            return _ALLOWED
        result = await self._emit(event, data)
        asks = getattr(result, "action", None) == "ask_user"
        asked = asked_call(data, data.get("tool_input")) if asks else None
        return await self._process_result(result, event, asked)

    def begin_unjudged(self, call: Mapping[str, Any]) -> bool:
        """Begin a call that no hook is asked about; whether it is one, and may run.

        It takes 0.3 µs, and `judge_call` 6 µs for its payload and verdict.

        Args:
            call: What events say of it, which must not change any more.
        """
        if self.has_listeners(TOOL_PRE):
            return False
        self._open_calls[call["tool_call_id"]] = call
        return True

    async def judge_call(
        self,
        call: Mapping[str, Any],
        tool_input: dict[str, Any],
        *,
        needs_approval: bool = False,
        approval_timeout: float | None = None,
        warning: str | None = None,
        has_begun: bool = False,
    ) -> CallVerdict:
        """Let the hooks, and a person if one of them asks for it, decide about a tool call.

        A question is about the arguments that its hook saw. If other hooks changed them in the same
        round, all hooks run again on the changed arguments, so that a person is asked about exactly
        what runs.

        Args:
            call: The payload of `tool:pre` without the arguments.
            tool_input: The arguments.
            needs_approval: Whether a person is asked even if no hook asks for it.
            approval_timeout: Seconds that a person has to answer where the hook does not say so;
                None for those of the session.
            warning: What a person has to know, and reads first, whoever asks; None for nothing.
            has_begun: Whether the call goes on that was allowed to begin: it may be denied, but
                nobody is asked about it again.

        Raises:
            QuestionPutOff: The answer comes when the turn has ended.
            ValueError: An injection is longer than the session allows.
        """
        self._begin_call(call)
        given: Any = tool_input
        for _ in range(_MAX_ROUNDS):
            result = await self._emit(TOOL_PRE, {**call, "tool_input": given})
            asks = getattr(result, "action", None) == "ask_user"
            if asks and has_begun:
                return CallVerdict(False, _NO_REASON, given)
            if not asks:
                verdict = await self._process_result(result, TOOL_PRE)
                changed = _read_input(verdict.data, given)
                if verdict.denied or not needs_approval or not isinstance(changed, dict):
                    return CallVerdict(verdict.denied, verdict.reason, changed)
                given = cast("dict[str, Any]", changed)
                if warning is None and await self._is_allowed_before(call, given):
                    question = CallQuestion(str(call.get("tool_name")), given)
                    question.grant()
                    return CallVerdict(False, verdict.reason, given, question)
                result = question_about(str(call.get("tool_name")), given)
            changed = _read_input(result.data, given)
            question = CallQuestion(str(call.get("tool_name")), given)
            if question.is_about(changed):
                if approval_timeout is not None:
                    result = within_seconds(result, approval_timeout)
                if warning is not None:
                    result = with_first_line(result, warning)
                asked = asked_call(call, given, str(call.get("tool_call_id") or ""))
                verdict = await self._process_result(result, TOOL_PRE, asked)
                if not verdict.denied:
                    question.grant()
                return CallVerdict(verdict.denied, verdict.reason, changed, question)
            given = changed
        reason = "hooks keep changing the arguments, so that nobody can be asked about them"
        return CallVerdict(True, reason, given)

    async def ask_during_call(
        self,
        call: Mapping[str, Any],
        question: str,
        about: Mapping[str, Any],
        parts: Sequence[str] = (),
        continuation: Continuation | None = None,
        for_session: str = "",
    ) -> PersonAnswer:
        """Ask a person something while a call runs, whose time stands still meanwhile.

        Without a `continuation` the question is not stored: a call that another process finds open
        is not gone on with.

        Args:
            call: What events say of it.
            question: What the person reads.
            about: The same as data.
            parts: What of it the person can agree to alone.
            continuation: What the tool needs to go on in another process.
            for_session: What the person can agree to until the session is closed.

        Raises:
            QuestionPutOff: The answer comes when the turn has ended.
            StoreError: The answer cannot be stored: nothing may be done by it.
        """
        if continuation is not None and (line := self._find_line_of_task()):
            # What was asked before has the line already, and gets it again.
            question = question.removeprefix(f"{line}\n")
        if self.coordinator is None or len(question) > _MAX_CHARS_OF_TOOLS:
            why = "no approval system" if self.coordinator is None else "the question is too long"
            reason = f"nobody could be asked: {why}"
            return PersonAnswer(is_yes=False, reason=reason, is_answered=False)
        result = HookResult(action="ask_user", approval_prompt=question)
        note_asker(result, str(call.get("tool_name")))
        limit = CALL_LIMIT.get()
        with nullcontext() if limit is None else limit.hold():
            asked = replace(
                asked_call(call, dict(about)),
                parts=tuple(parts),
                offer=Offer(for_session=bool(for_session), name=for_session),
            )
            running: RunningCall | None = None
            if continuation is not None:
                id = str(call.get("tool_call_id") or "")
                running = RunningCall(id, continuation.resume, continuation.hash)
            verdict = await self._process_result(result, TOOL_PRE, asked, running)
        if verdict.denied:
            is_answered = not asked.reply.is_missing
            words = asked.reply.words or ""
            return PersonAnswer(
                is_yes=False, reason=verdict.reason, words=words, is_answered=is_answered
            )
        lasts = asked.offer.for_session and asked.reply.grant == SESSION_GRANT
        agreed = asked.reply.parts
        words = "" if agreed is None else asked.reply.words
        return PersonAnswer(is_yes=True, parts=agreed, for_session=lasts, words=words)

    def make_separate(self) -> HookPoints:
        """Return the hooks for a request beside the conversation, with injections of its own."""
        return HookPoints(self.registry, self.coordinator, self._approval_timeout)

    def take_injections(self) -> list[Injection]:
        """Return the waiting injections, each once."""
        waiting, self._waiting = self._waiting, []
        return waiting

    def _emit(self, event: str, data: dict[str, Any]) -> Awaitable[Any]:
        return await_interruptibly(self.registry.emit(event, data), f"a hook of `{event}`")

    def _begin_call(self, call: Mapping[str, Any]) -> None:
        about = dict(call)
        about.pop("tool_input_error", None)
        self._open_calls[call.get("tool_call_id")] = about

    async def _ask(
        self, question: Any, event: str, asked: AskedCall, running: RunningCall | None
    ) -> Any:
        """Ask, and emit question and answer; the clock of the budget is paused meanwhile."""
        result = within_seconds(question, self._approval_timeout)
        if line := self._find_line_of_task():
            result = with_first_line(result, line)
        standing = StandingApprovals(self.coordinator)
        asked = await standing.describe_question(asked)
        journal = self.find_journal() if asked.call_id or running is not None else None
        kept: KeptQuestion | None = None
        if journal is not None:
            kept = journal.questions.keep(
                asked, result, self.coordinator, running, epoch=journal.epoch
            )
        if kept is not None:
            if kept.question_id != asked.question_id and isinstance(result, HookResult):
                result = with_seconds(result, kept.seconds_left)
            asked = replace(asked, question_id=kept.question_id, keeper=journal)
        ledger = running_ledger()
        with nullcontext() if ledger is None else ledger.pause_clock():
            answer = self._answer_kept(journal, kept, result, asked)
            if answer is None:
                answer = await self._await_answer(journal, result, event, asked)
                if kept is not None and not asked.reply.is_put_off:
                    answer = await self._settle_answer(journal, kept, result, answer, asked)
        if asked.reply.is_put_off:
            raise QuestionPutOff
        if journal is not None:
            journal.questions.end(kept, answer, asked.reply)
            if running is not None:
                # Before what was agreed to is done: after a crash it is known who agreed to it.
                await journal.flush()
        if asked.reply.is_late:
            await self._emit(APPROVAL_TIMEOUT, timeout_event(asked, result))
        else:
            answer = with_reply(answer, asked.reply)
        if getattr(answer, "action", None) != "deny":
            await standing.note_grant(asked)
        await self._emit(*answer_event(asked, answer))
        return answer

    async def _is_allowed_before(self, call: Mapping[str, Any], given: dict[str, Any]) -> bool:
        """Whether a person need not be asked, as one has allowed such calls."""
        journal = self.find_journal()
        if journal is not None and journal.questions.has_call(call.get("tool_call_id")):
            return False  # the answer to the question counts, whatever else is allowed
        return await StandingApprovals(self.coordinator).allow_call(
            str(call.get("tool_name")), given
        )

    async def _settle_answer(
        self, journal: Any, kept: KeptQuestion, result: Any, answer: Any, asked: AskedCall
    ) -> Any:
        """Store an answer, and return the first one, which may be that of another process."""
        reply, questions = asked.reply, journal.questions
        if questions.find_sent(kept) is None:
            if reply.is_late or reply.unasked:
                return answer
            own = keep_reply(kept, reply, is_denied=getattr(answer, "action", None) == "deny")
            try:
                await journal.inbox.add_answer(own)
            except Exception as error:  # noqa: BLE001 -- of the store, which says what it is
                return HookResult(action="deny", reason=f"the answer is not stored: {error}")
            if questions.find_sent(kept) == own:
                return answer
        return self._answer_kept(journal, kept, result, asked)

    def find_journal(self) -> Any:
        """Return what keeps the questions of the session; None without a store.

        Those of a sub-agent are kept if what waits for it can be gone on with in another process.
        """
        find: Any = getattr(self.coordinator, "get_capability", None)
        if not callable(find):
            return None
        is_child = bool(getattr(self.coordinator, "parent_id", None))
        are_lost = is_child and find(SESSION_QUESTIONS_KEPT) is not True
        return None if are_lost else find(SESSION_JOURNAL)

    def _find_line_of_task(self) -> str:
        """Return the line that says which sub-agent asks; empty for the session of a user."""
        find: Any = getattr(self.coordinator, "get_capability", None)
        task = find(SESSION_TASK) if callable(find) else None
        return line_of_task(task) if isinstance(task, str) else ""

    def _answer_kept(
        self, journal: Any, kept: KeptQuestion | None, result: Any, asked: AskedCall
    ) -> HookResult | None:
        """Return what is known without asking: an answer that was given, or that time has passed."""
        if kept is None:
            return None
        if (given := journal.questions.find_answer(kept)) is not None:
            asked.reply.words, asked.reply.grant = given.reason or "", given.grant
            parts = None if given.parts is None else set(given.parts)
            granted = [each for each in asked.parts if parts is None or each in parts]
            asked.reply.parts = None if parts is None else tuple(granted)
            return answer_as_result(given, result)
        if kept.is_late:
            asked.reply.is_late = True
            return lateness_as_result(result)
        return None

    async def _await_answer(self, journal: Any, result: Any, event: str, asked: AskedCall) -> Any:
        """Ask a person, once the question is stored."""
        token = ASKED_CALL.set(asked)
        try:
            if journal is not None:
                await journal.flush()
            await self._emit(APPROVAL_REQUIRED, required_event(asked, result))
            return await self._carry_out(result, event)
        except Exception as error:
            # Nobody has agreed, and what was asked about has not failed.
            asked.reply.has_failed = True
            reason = f"the approval system failed: {format_error(error)}"
            logger.warning("%s; denying", reason)
            logger.debug("traceback of the approval system", exc_info=True)
            return HookResult(action="deny", reason=reason)
        finally:
            ASKED_CALL.reset(token)

    def _carry_out(self, result: Any, event: str) -> Awaitable[Any]:
        processed = self.coordinator.process_hook_result(result, event)
        return await_interruptibly(processed, f"what a hook of `{event}` asked for")

    async def _process_result(
        self,
        result: Any,
        event: str,
        asked: AskedCall | None = None,
        running: RunningCall | None = None,
    ) -> Verdict:
        """Carry out the action of a result; `asked` is the call that it asks about."""
        action = getattr(result, "action", None)
        if _asks_for_nothing(result) and _is_of_kernel(self.coordinator):
            # Nearly every result: to carry it out would await the coordinator for nothing.
            return Verdict(False, result.reason or _NO_REASON, result.data)
        if self.coordinator is None and action == "ask_user":
            return Verdict(denied=True, reason="No approval system available", data=None)
        changed: Any = getattr(result, "data", None)
        if self.coordinator is not None and action == "inject_context":
            # What is injected for good is emitted as a whole.
            with Shield():
                result = await self._carry_out(result, event)
        elif self.coordinator is not None and action != "ask_user":
            result = await self._carry_out(result, event)
        elif self.coordinator is not None:
            # One question at a time: tool calls run concurrently, and there is one user.
            self._approvals = self._approvals or anyio.Lock()
            async with self._approvals:
                asked = asked or asked_call({}, None)
                result = await self._ask(result, event, asked, running)
        self._waiting.extend(injections_of(result))
        return Verdict(
            denied=getattr(result, "action", None) == "deny",
            reason=getattr(result, "reason", None) or _NO_REASON,
            data=cast("dict[str, Any]", changed) if isinstance(changed, dict) else None,
        )


def _is_of_kernel(coordinator: Any) -> bool:
    """Whether it is known what carrying out a result does."""
    return type(coordinator) in _COORDINATORS and "process_hook_result" not in vars(coordinator)


def _asks_for_nothing(result: Any) -> bool:
    """Whether carrying out a result would do nothing."""
    return (
        type(result) is HookResult
        and result.action == "continue"
        and not (result.user_message or result.suppress_output)
    )


def _read_input(data: Any, given: Any) -> Any:
    """Return the arguments of a payload, else those that were given."""
    return (
        cast("dict[str, Any]", data).get("tool_input", given) if isinstance(data, dict) else given
    )
