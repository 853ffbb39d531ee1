"""The tool calls of one response: run concurrently, answered in the order of the calls."""

from __future__ import annotations

import copy
import difflib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from uuid import uuid4

import anyio

from amplifier_core.events import TOOL_ERROR, TOOL_POST, TOOL_PRE
from amplifier_core.llm_errors import InvalidToolCallError
from amplifier_core.models import ToolResult

from .cancellation import TurnCancellation
from .failure import described, in_words
from .hook_points import HookPoints
from .response import RequestedCall

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Answer:
    """What the model is told of a call."""

    content: str | list[dict[str, Any]]
    is_error: bool = False


NOT_STARTED = Answer("Cancelled: the turn was ended before this tool was started.", is_error=True)
INTERRUPTED = Answer(
    "Cancelled: the turn was ended while this tool ran; its effects are unknown.", is_error=True
)


class UnknownToolError(LookupError):
    """The model asked for a tool that is not mounted."""


class ToolRound:
    """The calls of one response and what came of each.

    Whatever ends the round, `messages` has one result for each call, so that a history in which
    the calls stand stays one that providers accept.
    """

    def __init__(
        self,
        calls: list[RequestedCall],
        tools: Mapping[str, Any],
        hooks: HookPoints,
        cancellation: TurnCancellation,
    ) -> None:
        """Prepare to run the calls with these tools."""
        self._calls = calls
        self._tools = tools
        self._hooks = hooks
        self._cancellation = cancellation
        self._group_id = str(uuid4())
        self._answers = [NOT_STARTED] * len(calls)
        self._fatal: BaseException | None = None

    async def run(self) -> None:
        """Run all calls; errors of tools become results, cancellation comes through."""
        if len(self._calls) == 1:
            await self._run_call(0)
            return
        try:
            async with anyio.create_task_group() as group:
                for index in range(len(self._calls)):
                    group.start_soon(self._run_call, index)
        except BaseExceptionGroup as errors:
            # Callers are to see what one call alone would have raised.
            raise self._fatal or errors from None
        if self._fatal is not None:
            # A task group takes a child that cancelled itself for a finished one.
            raise self._fatal

    def messages(self) -> list[dict[str, Any]]:
        """Return the results as tool messages, in the order of the calls."""
        messages: list[dict[str, Any]] = []
        for call, answer in zip(self._calls, self._answers, strict=True):
            message = {"role": "tool", "tool_call_id": call.id, "name": call.name}
            error = {"is_error": True} if answer.is_error else {}
            messages.append({**message, "content": answer.content, **error})
        return messages

    async def _run_call(self, index: int) -> None:
        call = self._calls[index]
        try:
            self._answers[index] = await self._answer(index, call)
        except Exception as error:
            if not isinstance(error, UnknownToolError | InvalidToolCallError):
                logger.warning("tool `%s` failed", call.name, exc_info=True)
            self._answers[index] = _failure(call, error)
            await self._hooks.emit(TOOL_ERROR, {**self._payload(call), "error": described(error)})
        except BaseException as error:
            self._fatal = self._fatal or error
            raise

    async def _answer(self, index: int, call: RequestedCall) -> Answer:
        if self._cancellation.is_cancelled:
            return NOT_STARTED
        tool_input = copy.deepcopy(call.arguments or {})
        verdict = await self._hooks.judge(
            TOOL_PRE, {**self._payload(call), "tool_input": tool_input}
        )
        if verdict.denied:
            return Answer(f"Denied by hook: {verdict.reason}", is_error=True)
        tool = self._runnable(call)
        if verdict.data is not None:
            tool_input = verdict.data.get("tool_input", tool_input)
        if not isinstance(tool_input, dict):
            message = f"a hook replaced the arguments by {type(tool_input).__name__}, not an object"
            raise TypeError(message)
        if self._cancellation.is_cancelled:
            return NOT_STARTED
        self._answers[index] = INTERRUPTED
        result = await self._execute(call, tool, cast("dict[str, Any]", tool_input))
        return await self._after(call, cast("dict[str, Any]", tool_input), result)

    def _runnable(self, call: RequestedCall) -> Any:
        if call.name not in self._tools:
            raise UnknownToolError(_unknown_tool(call.name, list(self._tools)))
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
            return await tool.execute(tool_input)
        finally:
            self._cancellation.tool_finished(call.id)

    async def _after(self, call: RequestedCall, tool_input: dict[str, Any], result: Any) -> Answer:
        is_error = getattr(result, "success", True) is False
        answer = Answer(_content(result), is_error)
        presented = _presented(result)
        verdict = await self._hooks.judge(
            TOOL_POST, {**self._payload(call), "tool_input": tool_input, "result": presented}
        )
        if verdict.denied:
            return Answer(f"Denied by hook: {verdict.reason}", is_error=True)
        # The kernel hands the very object back unless a hook changed it.
        replaced = presented if verdict.data is None else verdict.data.get("result", presented)
        return answer if replaced is presented else Answer(_as_text(replaced), is_error)

    def _payload(self, call: RequestedCall) -> dict[str, Any]:
        return {
            "tool_name": call.name,
            "tool_call_id": call.id,
            "parallel_group_id": self._group_id,
        }


def _presented(result: Any) -> dict[str, Any]:
    """Return a tool's result as hooks see it: images inside are named, not shown."""
    for method in ("safe_hook_presentation", "model_dump"):
        if callable(present := getattr(result, method, None)):
            return cast("dict[str, Any]", present())
    return {"success": True, "output": result, "error": None}


def _content(result: Any) -> str | list[dict[str, Any]]:
    """Return a tool's result as the model sees it."""
    if blocks := getattr(result, "content", None):
        return [block.model_dump(exclude_none=True) for block in blocks]
    if callable(serialise := getattr(result, "get_serialized_output", None)):
        return cast("str", serialise())
    return _as_text(getattr(result, "output", result))


def _as_text(value: Any) -> str:
    """Return any value in the form and cleanness of a tool's output."""
    return ToolResult(output=value).get_serialized_output()


def _failure(call: RequestedCall, error: Exception) -> Answer:
    if isinstance(error, UnknownToolError | InvalidToolCallError):
        return Answer(_as_text(f"Error: {error}"), is_error=True)
    return Answer(_as_text(f"Error: tool `{call.name}` failed: {in_words(error)}"), is_error=True)


def _unknown_tool(name: str, known: list[str]) -> str:
    listed = ", ".join(f"`{each}`" for each in sorted(known)) or "none"
    message = f"unknown tool `{name}` (mounted: {listed})"
    if close := difflib.get_close_matches(name, known, n=1):
        message += f"; did you mean `{close[0]}`?"
    return message
