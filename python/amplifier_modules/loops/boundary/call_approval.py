"""The approval of a tool call by a person: the question, who hears of it, and what it covers."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING, Any, cast

from amplifier_core import world
from amplifier_core.approval import AskedCall, Reply, note_asker
from amplifier_core.events import APPROVAL_DENIED, APPROVAL_GRANTED
from amplifier_core.models import HookResult

if TYPE_CHECKING:
    from amplifier_guard import Approval, ApprovalTicket

APPROVAL_TIMEOUT = "approval:timeout"
"""Event: nobody answered a question in time."""
_MAX_QUESTION_CHARS = 4000
"""Nobody reads more, and nobody can agree to what they have not read."""
SAYS = "User denied, and says: "
"""How the reason of a denial begins that has words for the model."""
UNASKED = "nobody could be asked: "
"""How the reason of a denial begins that is nobody's answer."""
_ASKER = "needs_approval"
"""What messages name where no hook asks, but the tool itself."""


def needs_approval(tool: Any, arguments: Mapping[str, Any] | None) -> bool:
    """Whether a person must be asked before a call: before each, or as its tool says of this one.

    Args:
        tool: Its `needs_approval` is True, or a method that takes the arguments.
        arguments: None for a call that cannot run.
    """
    needs: Any = getattr(tool, "needs_approval", False)
    if arguments is None or needs is False:
        return False
    return needs is True or (callable(needs) and needs(arguments) is True)


def approval_timeout(tool: Any) -> float | None:
    """Return the seconds that a person has to answer about a call; None if the tool sets none."""
    seconds = getattr(tool, "approval_timeout", None)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        return None
    return seconds


def question_about(tool: str, tool_input: Mapping[str, Any]) -> HookResult:
    """Ask a person about all arguments of a call; deny one that cannot be shown whole."""
    # Imported here: without the extension loops run, but no approved calls.
    from amplifier_guard.question import quote_value

    try:
        rows = [
            f"| {quote_value(name)}: {quote_value(value)}" for name, value in tool_input.items()
        ]
    except (TypeError, ValueError) as error:
        return _deny(f"nobody can be asked about the arguments of `{tool}`: {error}")
    prompt = "\n".join([f"run `{tool}`?", *rows])
    if len(prompt) > _MAX_QUESTION_CHARS:
        return _deny(
            f"the call is too long to ask about (limit: {_MAX_QUESTION_CHARS:,} characters)"
        )
    question = HookResult(action="ask_user", approval_prompt=prompt)
    note_asker(question, _ASKER)
    return question


def line_of_task(task: str) -> str:
    """Return the line that questions of a sub-agent begin with."""
    from amplifier_guard.question import quote_value  # late: as in `question_about`

    return f"the sub-agent {quote_value(task)} asks:"


def with_first_line(question: Any, line: str) -> Any:
    """Return a question that begins with a line, such as a warning."""
    if not isinstance(question, HookResult):
        return question
    prompt = question.approval_prompt or "Allow this operation?"
    return question.model_copy(update={"approval_prompt": f"{line}\n{prompt}"})


def asked_call(call: Mapping[str, Any], tool_input: Any, call_id: str = "") -> AskedCall:
    """Return what those who answer see of the call, under a new id.

    Args:
        call: What events say of it.
        tool_input: Its arguments.
        call_id: Its id, if the question is whether it may run.
    """
    is_object = isinstance(tool_input, dict)
    arguments = dict(cast("dict[str, Any]", tool_input)) if is_object else {}
    id, name = world.random_bytes(16).hex(), str(call.get("tool_name") or "")
    return AskedCall(id, name, arguments, call_id)


def required_event(asked: AskedCall, result: Any) -> dict[str, Any]:
    """Return the data of `approval:required`."""
    return {
        **({"effect": asked.effect} if asked.effect else {}),
        "question_id": asked.question_id,
        "tool_call_id": asked.call_id or None,
        "tool_name": asked.tool_name,
        "arguments": asked.arguments,
        "prompt": getattr(result, "approval_prompt", None),
        "options": getattr(result, "approval_options", None),
        "timeout": seconds_of(result),
        "default": getattr(result, "approval_default", None),
    }


def timeout_event(asked: AskedCall, result: Any) -> dict[str, Any]:
    """Return the data of `approval:timeout`."""
    return {
        "question_id": asked.question_id,
        "tool_name": asked.tool_name,
        "timeout": seconds_of(result),
        "default": getattr(result, "approval_default", None),
    }


def within_seconds(result: Any, seconds: float | None) -> Any:
    """Return a question to be answered within so many seconds, unless its hook says otherwise.

    Args:
        result: The question.
        seconds: None for no limit.
    """
    if not isinstance(result, HookResult):
        return result
    usual = HookResult.model_fields["approval_timeout"].default
    if "approval_timeout" in result.model_fields_set or result.approval_timeout != usual:
        return result
    return with_seconds(result, seconds)


def with_seconds(result: Any, seconds: float | None) -> Any:
    """Return a question to be answered within so many seconds; None for no limit."""
    limit = inf if seconds is None else float(seconds)
    return result.model_copy(update={"approval_timeout": limit})


def with_reply(answer: Any, reply: Reply) -> Any:
    """Return an answer with what whoever denied says to the model, or why nobody was asked."""
    if getattr(answer, "action", None) != "deny":
        return answer
    if reply.words:
        return _deny(f"{SAYS}{reply.words}")
    return _deny(f"{UNASKED}{reply.unasked}") if reply.unasked else answer


def seconds_of(result: Any) -> Any:
    """Return the seconds in which a question must be answered; None for no limit."""
    seconds = getattr(result, "approval_timeout", None)
    return None if seconds == inf else seconds


def answer_event(asked: AskedCall, answer: Any) -> tuple[str, dict[str, Any]]:
    """Return the event of the answer to a question, and its data."""
    about = {"question_id": asked.question_id, "tool_name": asked.tool_name}
    if getattr(answer, "action", None) != "deny":
        grant = {"grant": asked.reply.grant} if asked.reply.grant else {}
        return APPROVAL_GRANTED, {**about, **grant}
    return APPROVAL_DENIED, {**about, "reason": getattr(answer, "reason", None)}


def _deny(reason: str) -> HookResult:
    return HookResult(action="deny", reason=reason)


class CallQuestion:
    """The call that a person is asked about: tool, exact arguments, folder and environment.

    An approval is valid once and for a limited time: see `amplifier_guard.ApprovalTicket`.
    """

    def __init__(self, tool_name: str, tool_input: Any) -> None:
        """Ask about this call; later changes to the objects have no effect.

        Raises:
            ValueError: The arguments are circular, or nested too deeply.
        """
        self._tool_name = tool_name
        self._approval = self._approval_of(tool_input)
        self._ticket: ApprovalTicket | None = None

    def is_about(self, tool_input: Any) -> bool:
        """Whether these are exactly the arguments."""
        return self._approval_of(tool_input) == self._approval

    def grant(self) -> None:
        """Record the approval, which expires if the call does not run soon."""
        from amplifier_guard import ApprovalTicket

        self._ticket = ApprovalTicket(self._approval)
        self._ticket.answer(True)

    def confirm(self, tool_input: Any) -> None:
        """Use the approval for these arguments.

        Raises:
            ApprovalDenied: The arguments differ, or there is no approval, or it has expired.
        """
        from amplifier_guard import ApprovalDenied

        if self._ticket is None:
            raise ApprovalDenied("the call was not approved")
        self._ticket.redeem(self._approval_of(tool_input))

    def _approval_of(self, tool_input: Any) -> Approval:
        # Imported here: without the extension loops run, but no approved calls.
        from amplifier_guard import Approval

        # `repr` for values of hooks that JSON has no form for.
        try:
            written = json.dumps(tool_input, default=repr)
        except RecursionError:
            message = "`tool_input` is nested too deeply to ask a person about it"
            raise ValueError(message) from None
        return Approval.of((self._tool_name, written), find_folder(), os.environ)


def find_folder() -> str:
    """Return the folder of the process; an empty text where it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""
