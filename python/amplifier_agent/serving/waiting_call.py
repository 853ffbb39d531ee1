"""A call of a client, and the questions to it, which may come between two requests.

From the protocol of 2026-07-28 on a server asks by the result of a request, which the client makes
again with the answers. The call goes on meanwhile, and waits for them.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from mcp.server.mcpserver import Context
from mcp.types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp.types.version import is_version_at_least

from amplifier_core import world
from amplifier_core.approval import ApprovalTimeoutError
from amplifier_modules.running.background import start_task

from .questions import ASKER

ServedResult = CallToolResult | InputRequiredResult
"""What a request for a call is answered with."""
ANSWER_SECONDS = 600.0
"""How long a call waits for a request with answers."""
_MAX_WAITING = 100
_STATE = "amplifier-call:"
_GONE = "the call that was asked about has ended; make it anew"


class ClientCall:
    """A call of a client that can be asked while its request runs, or cannot be asked at all."""

    def __init__(self, context: Context[Any, Any]) -> None:
        """Belong to this request."""
        self.context = context
        self._reported = -math.inf

    @property
    def can_ask(self) -> bool:
        """Whether the client says that it can put a form to a person."""
        try:
            capabilities = self.context.client_capabilities
        except ValueError:
            return False  # a program has called the tool itself
        elicitation = None if capabilities is None else capabilities.elicitation
        return elicitation is not None and (elicitation.form is not None or elicitation.url is None)

    async def ask(self, form: ElicitRequestFormParams) -> ElicitResult:
        """Put a form to a person, while the request runs."""
        session, id = self.context.session, self.context.request_id
        return await session.elicit_form(form.message, form.requested_schema, id)

    async def report(self, message: str, fraction: float | None) -> None:
        """Tell the client how far the call is: each report is more than the one before."""
        self._reported = _choose_above(self._reported, fraction)
        total = None if fraction is None else 1.0
        await self.context.report_progress(self._reported, total, message)


def _choose_above(before: float, fraction: float | None) -> float:
    """Return the number of a report: its fraction, or a count where there are none."""
    if fraction is None and before == -math.inf:
        return 1.0
    if fraction is None and before >= 1:
        return before + 1
    return fraction if fraction is not None and fraction > before else math.nextafter(before, 2)


class CallInRounds(ClientCall):
    """A call whose questions are answered by later requests."""

    def __init__(
        self, context: Context[Any, Any], run: Callable[[], Awaitable[ServedResult]]
    ) -> None:
        """Begin with the first request.

        Args:
            context: The request.
            run: Runs the call; it raises nothing but its cancellation.
        """
        super().__init__(context)
        self.id = world.random_bytes(16).hex()
        self._run = run
        self._scope = anyio.CancelScope()
        self._questions: dict[str, _Question] = {}
        self._result: ServedResult | None = None
        self._error: Exception | None = None
        self._changed = anyio.Event()
        self.ended = anyio.Event()

    @property
    def has_ended(self) -> bool:
        """Whether there is a result."""
        return self._result is not None or self._error is not None

    def start(self) -> None:
        """Run the call in a task of its own, beyond its first request."""
        start_task(self._run_to_end)

    def cancel(self) -> None:
        """End the call."""
        self._scope.cancel()

    async def ask(self, form: ElicitRequestFormParams) -> ElicitResult:
        """Let a result put a form to a person, and wait for the request with the answer.

        Raises:
            ApprovalTimeoutError: None came within `ANSWER_SECONDS`.
        """
        key = f"question-{world.random_bytes(4).hex()}"
        question = self._questions[key] = _Question(ElicitRequest(params=form), anyio.Event())
        self._changed.set()
        try:
            with anyio.move_on_after(ANSWER_SECONDS):
                await question.answered.wait()
        finally:
            del self._questions[key]
        if question.answer is None:
            raise ApprovalTimeoutError(f"no answer in {ANSWER_SECONDS:.0f} s")
        return question.answer

    def take(self, context: Context[Any, Any]) -> None:
        """Take the answers of a further request, which waits for the call from now on."""
        self.context = context
        self._reported = -math.inf
        for key, answer in (context.input_responses or {}).items():
            question = self._questions.get(key)
            if question is not None and isinstance(answer, ElicitResult):
                question.answer = answer
                question.answered.set()

    async def take_round(self) -> ServedResult:
        """Return the result of the call, or the questions that it waits for.

        Raises:
            Exception: What the call raised.
        """
        while not self.has_ended:
            self._changed = anyio.Event()
            open_ones = {
                key: each.request for key, each in self._questions.items() if each.answer is None
            }
            if open_ones:
                return InputRequiredResult(input_requests=dict(open_ones), request_state=self.state)
            await self._changed.wait()
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    @property
    def state(self) -> str:
        """What the client sends back with its answers."""
        return _STATE + self.id

    async def _run_to_end(self) -> None:
        ASKER.set(self)
        try:
            with self._scope:
                self._result = await self._run()
        except Exception as error:  # noqa: BLE001 -- raised where the result is waited for
            self._error = error
        finally:
            if not self.has_ended:
                self._error = RuntimeError("the call was cancelled")
            self._changed.set()
            self.ended.set()


class _Question:
    def __init__(self, request: ElicitRequest, answered: anyio.Event) -> None:
        self.request = request
        self.answered = answered
        self.answer: ElicitResult | None = None


class WaitingCalls:
    """The calls that wait for answers of their clients."""

    def __init__(self) -> None:
        """Begin with none."""
        self._calls: dict[str, CallInRounds] = {}
        self._running: set[CallInRounds] = set()

    async def run(
        self, context: Context[Any, Any], run: Callable[[], Awaitable[ServedResult]]
    ) -> ServedResult:
        """Answer a request for a call: by its result, or by what it asks.

        Args:
            context: The request.
            run: Runs the call, if it is not one that waits.

        Raises:
            LookupError: The call that the answers belong to has ended.
            Exception: What the call raised.
        """
        state = context.request_state or ""
        call: ClientCall = ClientCall(context)
        if state.startswith(_STATE):
            found = self._calls.pop(state.removeprefix(_STATE), None)
            if found is None:
                raise LookupError(_GONE)
            found.take(context)
            return await self._wait(found)
        if call.can_ask and asks_by_results(context.protocol_version):
            call = CallInRounds(context, run)
            self._running = {each for each in self._running if not each.has_ended} | {call}
            call.start()
            return await self._wait(call)
        token = ASKER.set(call)
        try:
            return await run()
        finally:
            ASKER.reset(token)

    async def end(self) -> None:
        """Cancel all calls that wait, and those whose requests have gone, and wait for their ends."""
        for each in self._running:
            each.cancel()
        for each in self._running:
            await each.ended.wait()

    async def _wait(self, call: CallInRounds) -> ServedResult:
        try:
            result = await call.take_round()
        except anyio.get_cancelled_exc_class():
            call.cancel()
            raise
        if not call.has_ended:
            self._calls[call.id] = call
            if len(self._calls) > _MAX_WAITING:
                self._calls.pop(next(iter(self._calls))).cancel()
        return result


def asks_by_results(version: str | None) -> bool:
    """Whether a server of this protocol asks by the results of requests."""
    return version is not None and is_version_at_least(version, "2026-07-28")
