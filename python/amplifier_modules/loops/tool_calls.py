"""The tool calls of one response: run concurrently, with results in the order of the calls."""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast
from uuid import uuid4

from amplifier_core._kernel.timeout import EXPIRED
from amplifier_core.events import TOOL_ERROR, TOOL_POST
from amplifier_core.llm_errors import InvalidToolCallError
from amplifier_core.models import ToolResult

from .argument_check import ArgumentCheck
from .call_errors import (
    DeniedByHookError,
    ToolTimeoutError,
    UnknownToolError,
    awaitable_of,
    is_failure_of_tool,
    words_for_model,
)
from .cancellation import TurnCancellation, ending_after
from .failure import described, in_words
from .hook_points import HookPoints
from .response import RequestedCall
from .result_limit import within
from .together import run_together

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Answer:
    """The result of a call, for the model."""

    content: str | list[dict[str, Any]]
    is_error: bool = False


NOT_STARTED = Answer("Cancelled: the turn was ended before this tool was started.", is_error=True)
INTERRUPTED = Answer(
    "Cancelled: the turn was ended while this tool ran; its effects are unknown.", is_error=True
)


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

    async def run(self) -> None:
        """Run all calls; errors of tools become results, cancellation is raised."""
        if len(self._calls) == 1:
            await self._run_call(0)
            return
        await run_together([partial(self._run_call, each) for each in range(len(self._calls))])
        if self._fatal is not None:
            # A task group of trio treats a child that cancelled itself as finished.
            raise self._fatal

    def messages(self) -> list[dict[str, Any]]:
        """Return the results as tool messages, in the order of the calls."""
        messages: list[dict[str, Any]] = []
        for call, answer in zip(self._calls, self._answers, strict=True):
            message = {"role": "tool", "tool_call_id": call.id, "name": call.name}
            error = {"is_error": True} if answer.is_error else {}
            content = within(self._max_bytes, answer.content)
            messages.append({**message, "content": content, **error})
        return messages

    async def _run_call(self, index: int) -> None:
        call = self._calls[index]
        try:
            self._answers[index] = await self._answer(index, call)
        except Exception as error:
            if is_failure_of_tool(error):
                logger.warning("tool `%s` failed: %s", call.name, in_words(error))
                logger.debug("traceback of tool `%s`", call.name, exc_info=True)
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
        verdict = await self._hooks.judge_call(about, tool_input)
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
        self._answers[index] = INTERRUPTED
        result = await self._execute(call, tool, cast("dict[str, Any]", tool_input))
        return await self._after(call, cast("dict[str, Any]", tool_input), result)

    def _runnable(self, call: RequestedCall) -> Any:
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
        self._cancellation.tool_started(call.id, call.name)
        try:
            running = awaitable_of(tool.execute(tool_input), call.name)
            result = await ending_after(self._longest, running, f"tool `{call.name}`")
        finally:
            self._cancellation.tool_finished(call.id)
        if result is EXPIRED:
            raise ToolTimeoutError(call.name, self._longest or 0)
        return result

    async def _after(self, call: RequestedCall, tool_input: dict[str, Any], result: Any) -> Answer:
        is_error = getattr(result, "success", True) is False
        answer = Answer(_content(result), is_error)
        presented = _presented(result)
        verdict = await self._hooks.judge(
            TOOL_POST, {**self._payload(call), "tool_input": tool_input, "result": presented}
        )
        if verdict.denied:
            return Answer(f"Denied by hook: {verdict.reason}", is_error=True)
        replaced = presented if verdict.data is None else verdict.data.get("result", presented)
        # The kernel returns the same object unless a hook changed it; a hook that injects or asks
        # may return a copy.
        is_same = replaced is presented or replaced == presented
        return answer if is_same else Answer(_as_text(replaced), is_error)

    def _payload(self, call: RequestedCall) -> dict[str, Any]:
        return {
            "tool_name": call.name,
            "tool_call_id": call.id,
            "parallel_group_id": self._group_id,
        }


def _presented(result: Any) -> dict[str, Any]:
    """Return a tool's result for hooks: images are named, not included."""
    for method in ("safe_hook_presentation", "model_dump"):
        if callable(present := getattr(result, method, None)):
            return cast("dict[str, Any]", present())
    return {"success": True, "output": result, "error": None}


def _content(result: Any) -> str | list[dict[str, Any]]:
    """Return a tool's result for the model."""
    if blocks := getattr(result, "content", None):
        return [block.model_dump(exclude_none=True) for block in blocks]
    if callable(serialise := getattr(result, "get_serialized_output", None)):
        return cast("str", serialise())
    return _as_text(getattr(result, "output", result))


def _as_text(value: Any) -> str:
    """Return any value in the form of a tool's output."""
    return ToolResult(output=value).get_serialized_output()
