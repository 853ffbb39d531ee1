"""The tool calls of one response: run concurrently, with results in the order of the calls."""

from __future__ import annotations

import copy
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, cast
from uuid import uuid4

from amplifier_core._kernel.timeout import EXPIRED
from amplifier_core.events import TOOL_ERROR, TOOL_POST
from amplifier_core.llm_errors import InvalidToolCallError

from ..argument_check import ArgumentCheck
from ..awaitable import awaitable_of
from ..failure import described, in_words
from ..loop_breaking import ends_turn
from .answers.response import RequestedCall
from .call_approval import needs_approval
from .call_context import TOOL_START, run_in_context
from .call_errors import (
    NO_NAME,
    DeniedByHookError,
    ToolTimeoutError,
    UnknownToolError,
    error_of_call,
    is_failure_of_tool,
    words_for_model,
)
from .cancellation import TurnCancellation, ending_after
from .equal_errors import EqualErrors
from .hook_points import HookPoints
from .ledger import Ledger, Limit
from .recovery.recoverable_error import RecoverableError
from .result_limit import within
from .together import run_together
from .tool_answer import INTERRUPTED, NOT_STARTED, Answer, as_text, content_of, presented

logger = logging.getLogger(__name__)


class ToolRound:
    """The calls of one response and their results.

    However the round ends, `messages` has one result for each call, so that providers accept the
    history.
    """

    def __init__(
        self,
        calls: list[RequestedCall],
        tools: Mapping[str, Any],
        hooks: HookPoints,
        cancellation: TurnCancellation,
        longest: float | None = None,
        max_bytes: int | None = None,
        arguments: ArgumentCheck | None = None,
        ledger: Ledger | None = None,
        equal_errors: EqualErrors | None = None,
        wait_while_paused: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Prepare to run the calls with these tools.

        Args:
            calls: What the model asked for.
            tools: Mounted tools by name.
            hooks: Where the events go.
            cancellation: Whether the turn is cancelled.
            longest: Seconds after which a tool is ended; None for no limit.
            max_bytes: Bytes of each result in the messages, at most; None for no limit.
            arguments: Compares the arguments with the schemas of the tools.
            ledger: What the turn may use; None for no limit.
            equal_errors: Counts the calls that fail again and again; None for no limit.
            wait_while_paused: Is awaited before tools begin; None for no pauses.
        """
        self._calls = calls
        self._tools = tools
        self._hooks = hooks
        self._cancellation = cancellation
        self._longest = longest
        self._max_bytes = max_bytes
        self._arguments = arguments or ArgumentCheck()
        self._group_id = str(uuid4())
        self._answers = [NOT_STARTED] * len(calls)
        self._fatal: BaseException | None = None
        self._ledger = ledger
        self._equal_errors = equal_errors
        self._wait_while_paused = wait_while_paused
        self._notes: list[str | None] = [None] * len(calls)
        self.limit: Limit | None = None
        """The limit that kept a call from running, if one did."""
        self._failures: dict[int, Exception] = {}
        self._final_answers: dict[int, str] = {}

    @property
    def final_answer(self) -> str | None:
        """The answer of the turn: the output of the first call that ends it; None without one."""
        return self._final_answers[min(self._final_answers)] if self._final_answers else None

    async def run(self) -> None:
        """Run all calls; errors of tools become results, cancellation is raised."""
        for batch in self._batches():
            if self._wait_while_paused is not None:
                await self._wait_while_paused()
            if len(batch) == 1:
                await self._run_call(batch[0])
                continue
            await run_together([partial(self._run_call, index) for index in batch])
            if self._fatal is not None:
                # A task group of trio treats a child that cancelled itself as finished.
                raise self._fatal
        if self._equal_errors is not None:
            self._notes = self._equal_errors.note(zip(self._calls, self._answers, strict=True))

    def errors(self) -> list[RecoverableError]:
        """Return the errors of the calls, in their order."""
        pairs = enumerate(zip(self._calls, self._answers, strict=True))
        return [
            error_of_call(index, call, answer, self._failures.get(index))
            for index, (call, answer) in pairs
            if answer.is_error
        ]

    def messages(self) -> list[dict[str, Any]]:
        """Return the results as tool messages, in the order of the calls."""
        messages: list[dict[str, Any]] = []
        for call, answer, note in zip(self._calls, self._answers, self._notes, strict=True):
            message = {"role": "tool", "tool_call_id": call.id, "name": call.name}
            error = {"is_error": True} if answer.is_error else {}
            content = within(
                self._max_bytes, answer.content if note is None else answer.after(note)
            )
            messages.append({**message, "content": content, **error})
        return messages

    def _batches(self) -> list[list[int]]:
        """Return which calls run at the same time; one whose tool is not `parallel` runs alone."""
        batches: list[list[int]] = []
        may_join = False
        for index, call in enumerate(self._calls):
            is_parallel = getattr(self._tools.get(call.name), "parallel", True) is not False
            if is_parallel and may_join:
                batches[-1].append(index)
            else:
                batches.append([index])
            may_join = is_parallel
        return batches

    async def _run_call(self, index: int) -> None:
        call = self._calls[index]
        try:
            self._answers[index] = await self._answer(index, call)
        except Exception as error:
            if is_failure_of_tool(error):
                logger.warning("tool `%s` failed: %s", call.name, in_words(error))
                logger.debug("traceback of tool `%s`", call.name, exc_info=True)
            self._failures[index] = error
            self._answers[index] = Answer(words_for_model(call.name, error), is_error=True)
            await self._hooks.emit(TOOL_ERROR, {**self._payload(call), "error": described(error)})
        except BaseException as error:
            self._fatal = self._fatal or error
            raise

    async def _answer(self, index: int, call: RequestedCall) -> Answer:
        if self._cancellation.is_cancelled:
            return NOT_STARTED
        tool_input = copy.deepcopy(call.arguments or {})
        about = self._payload(call)
        if call.problem is not None:
            about["tool_input_error"] = call.problem
        asks = needs_approval(self._tools.get(call.name)) and call.arguments is not None
        verdict = await self._hooks.judge_call(about, tool_input, needs_approval=asks)
        if verdict.denied:
            raise DeniedByHookError(verdict.reason)
        tool = self._runnable(call)
        tool_input = verdict.tool_input
        if not isinstance(tool_input, dict):
            found = type(tool_input).__name__
            message = f"a hook replaced the arguments by a `{found}` (must be an object)"
            raise TypeError(message)
        self._arguments.check(call.name, tool, cast("dict[str, Any]", tool_input))
        if self._cancellation.is_cancelled:
            return NOT_STARTED
        if verdict.question is not None:
            # A copy, which hooks that saw the call cannot change.
            tool_input = copy.deepcopy(cast("dict[str, Any]", tool_input))
            try:
                verdict.question.confirm(tool_input)
            except PermissionError as denial:
                raise DeniedByHookError(str(denial)) from denial
        is_final = ends_turn(call.name, tool, cast("dict[str, Any]", tool_input))
        if self._ledger is not None and (limit := self._ledger.take_tool_call()) is not None:
            self.limit = limit
            return Answer(f"Not run: {limit.reason}.", is_error=True)
        self._answers[index] = INTERRUPTED
        result = await self._execute(call, tool, cast("dict[str, Any]", tool_input))
        answer = await self._after(call, cast("dict[str, Any]", tool_input), result)
        if is_final and not answer.is_error:
            self._final_answers[index] = answer.text
        return answer

    def _runnable(self, call: RequestedCall) -> Any:
        if not call.name and not (call.problem or NO_NAME).startswith(NO_NAME):
            message = f"the call cannot be used: {call.problem}; write it again"
            raise InvalidToolCallError(message)
        if call.name not in self._tools:
            raise UnknownToolError(call.name, list(self._tools))
        if call.arguments is None:
            message = (
                f"the arguments of `{call.name}` cannot be used: {call.problem}; "
                "call it again with one complete JSON object"
            )
            raise InvalidToolCallError(message, tool_name=call.name)
        return self._tools[call.name]

    async def _execute(self, call: RequestedCall, tool: Any, tool_input: dict[str, Any]) -> Any:
        async def run() -> Any:
            returned = tool.execute(tool_input)
            running = awaitable_of(
                returned, "execute", call.name, "make it `async def`, or use `@tool`"
            )
            return await ending_after(self._longest, running, f"tool `{call.name}`")

        about = self._payload(call)
        self._cancellation.tool_started(call.id, call.name)
        try:
            await self._hooks.emit(TOOL_START, {**about, "tool_input": tool_input})
            result = await run_in_context(call.id, tool, self._hooks, about, run)
        finally:
            self._cancellation.tool_finished(call.id)
        if result is EXPIRED:
            raise ToolTimeoutError(call.name, self._longest or 0)
        return result

    async def _after(self, call: RequestedCall, tool_input: dict[str, Any], result: Any) -> Answer:
        is_error = getattr(result, "success", True) is False
        answer = Answer(content_of(result), is_error)
        shown = presented(result)
        verdict = await self._hooks.judge(
            TOOL_POST, {**self._payload(call), "tool_input": tool_input, "result": shown}
        )
        if verdict.denied:
            return Answer(f"Denied by hook: {verdict.reason}", is_error=True)
        replaced = shown if verdict.data is None else verdict.data.get("result", shown)
        # The kernel returns the same object unless a hook changed it; a hook that injects or asks
        # may return a copy.
        is_same = replaced is shown or replaced == shown
        return answer if is_same else Answer(as_text(replaced), is_error)

    def _payload(self, call: RequestedCall) -> dict[str, Any]:
        return {
            "tool_name": call.name,
            "tool_call_id": call.id,
            "parallel_group_id": self._group_id,
        }
