"""The two protocols of an approval system, which differ in the parameters of `request_approval`.

`ApprovalSystem` takes a prompt, options, seconds and a default; `ApprovalProvider` takes one
`ApprovalRequest`.
"""

from __future__ import annotations

import inspect
import logging
from typing import Any, Literal, TypeAlias

from ._kernel.approval_decision import is_consent
from ._kernel.asker import ASKED_CALL, note_words
from ._kernel.awaitable import is_awaitable

logger = logging.getLogger("amplifier_core.coordinator")

Protocol: TypeAlias = Literal["system", "provider"]
"""Which of the two protocols an object has."""

_REQUEST = "request"
"""The stand-in for an argument, where only their number counts."""


def protocol_of(approval: Any) -> Protocol | None:
    """Return the protocol of an approval system; None if it has neither.

    What has no signature that can be read counts as an `ApprovalSystem`.
    """
    method: Any = getattr(approval, "request_approval", None)
    if not callable(method):
        return None
    try:
        signature = inspect.signature(method)
    except (TypeError, ValueError):
        return "system"
    if _takes(signature, 4):
        return "system"
    return "provider" if _takes(signature, 1) else None


def complaint(approval: Any) -> str | None:
    """Return what is wrong with an approval system; None if it can be asked."""
    if approval is None or protocol_of(approval) is not None:
        return None
    name = type(approval).__name__
    if not callable(getattr(approval, "request_approval", None)):
        return (
            f"the approval system `{name}` cannot be asked: it has no method `request_approval` "
            "(see `ApprovalSystem` and `ApprovalProvider`)"
        )
    return (
        f"the approval system `{name}` cannot be asked: its `request_approval` takes neither "
        "`(prompt, options, timeout, default)` nor `(request)`"
    )


def ask(
    approval: Any,
    prompt: str,
    options: list[str],
    timeout: float,
    default: str,
    hook_name: str,
    event: str,
) -> Any:
    """Ask for approval; the answer, or what it is awaited from, is one of the options."""
    if protocol_of(approval) != "provider":
        if not any(map(is_consent, options)):
            logger.warning(
                "none of the options `%s` of hook `%s` is a known word of consent; each denies",
                "`, `".join(options),
                hook_name,
            )
        return approval.request_approval(prompt, options, timeout, default)
    from .models import ApprovalRequest

    call = ASKED_CALL.get()
    request = ApprovalRequest(
        tool_name="" if call is None else call.tool_name,
        action=prompt,
        details={"hook": hook_name, "event": event, "options": options},
        risk_level="medium",
        timeout=timeout if 0 < timeout < float("inf") else None,
    )
    return _await_option(approval.request_approval(request))


async def _await_option(response: Any) -> str:
    """Wait for the response of an `ApprovalProvider` and return it as an option."""
    if is_awaitable(response):
        response = await response
    approved: object = getattr(response, "approved", None)
    if not isinstance(approved, bool):
        found = type(response).__name__
        raise TypeError(f"the approval provider must answer an `ApprovalResponse`, not `{found}`")
    if not approved:
        note_words(getattr(response, "reason", None))
    return "allow" if approved else "deny"


def _takes(signature: inspect.Signature, count: int) -> bool:
    """Whether a function can be called with so many arguments by position."""
    try:
        signature.bind(*[_REQUEST] * count)
    except TypeError:
        return False
    return True
