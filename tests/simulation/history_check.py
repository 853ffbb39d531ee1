"""The conversation of a session: each call is answered once, in order, and nothing is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from broken import BrokenPromiseError

from amplifier_core.message_models import ChatRequest

_OF_CALLS = frozenset({"assistant", "tool"})


def check_history(messages: Sequence[Mapping[str, Any]], *, may_wait: bool) -> None:
    """Check that right behind each message with calls are their results, in the order of the calls.

    Args:
        messages: The conversation.
        may_wait: Whether the calls of the last answer may still run.
    """
    waiting: list[str] = []
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            if not waiting or message.get("tool_call_id") != waiting[0]:
                found = message.get("tool_call_id")
                raise BrokenPromiseError(
                    f"message {index} answers `{found}`, and {waiting or 'no call'} waits"
                )
            del waiting[0]
            continue
        if waiting:
            if may_wait and not any(each["role"] in _OF_CALLS for each in messages[index:]):
                return  # hooks add messages while tools run; the results will come before them
            raise BrokenPromiseError(
                f"message {index} is of `{message['role']}`, and the calls {waiting} before it have"
                " no results"
            )
        waiting = [call["id"] for call in message.get("tool_calls") or ()]
        if len(set(waiting)) < len(waiting):
            raise BrokenPromiseError(f"two calls of message {index} have one id: {waiting}")
    if waiting and not may_wait:
        raise BrokenPromiseError(f"the calls {waiting} at the end have no results")


def check_request(request: ChatRequest) -> None:
    """Check what a model is sent, as a strict service does."""
    messages = [message.model_dump() for message in request.messages]
    for message in messages:
        content = message["content"]
        blocks = content if isinstance(content, list) else []
        message["tool_calls"] = [block for block in blocks if block["type"] == "tool_call"]
        if message["role"] == "user" and not content:
            raise BrokenPromiseError("a request has an empty message of the user")
    try:
        check_history(messages, may_wait=False)
    except BrokenPromiseError as broken:
        raise BrokenPromiseError(f"a request no service takes: {broken}") from None
    if not any(message["role"] == "user" for message in messages):
        raise BrokenPromiseError("a request has no message of the user")


class WatchedHistory:
    """The history of one session, as it grows."""

    def __init__(self) -> None:
        """Begin with no messages."""
        self._known: list[Any] = []

    def check(self, messages: list[Any], *, may_wait: bool) -> None:
        """Check the messages, and that none that was there has gone or changed its place."""
        known = self._known
        if len(messages) == len(known) and (not known or messages[-1] is known[-1]) and may_wait:
            return
        check_history(messages, may_wait=may_wait)
        found = iter(messages)
        for message in known:
            if not any(message is each for each in found):
                raise BrokenPromiseError(f"the history has lost, or moved, a message: {message}")
        self._known = messages
