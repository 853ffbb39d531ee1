"""What a person reads who is asked about a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amplifier_core.models import HookResult
from amplifier_guard.question import quote_value

from .calls import Call, Effect
from .modes import PRESENT_PLAN

_MAX_CHARS = 4000
"""Nobody reads more, and nobody can agree to what they have not read."""
_MAX_CHARS_OF_PREVIEW = 15_000
"""The same for differences, of which less is new."""
_SHOWN_CHARS = 600
_LONG = frozenset({"content", "new_text", "old_text", "patch"})
"""What file tools write: of a long one a person sees the beginning."""


def ask_about(call: Call, why: str, seconds: float | None) -> HookResult:
    """Ask a person about all arguments of a call; deny one that cannot be shown.

    Args:
        call: The call.
        why: What has the person asked.
        seconds: The time to answer; None for what else applies.
    """
    clips = call.effect is Effect.WRITES and not call.asks_itself
    try:
        rows = [
            f"| {quote_value(name)}: {_show(name, each, clips=clips)}"
            for name, each in call.arguments.items()
        ]
    except (TypeError, ValueError) as error:
        return deny(f"nobody can be asked about the arguments of `{call.name}`: {error}")
    return _ask("\n".join([f"run `{call.name}`? ({why})", *rows]), seconds)


def ask_about_plan(arguments: Mapping[str, Any], seconds: float | None) -> HookResult:
    """Ask a person about a plan."""
    plan = arguments.get("plan")
    if not isinstance(plan, str) or not plan.strip():
        return deny(f"`plan` of `{PRESENT_PLAN}` must be a text that is not empty")
    rows = (f"| {line}" for line in plan.strip().splitlines())
    return _ask("\n".join(["carry out this plan?", *rows]), seconds)


def with_preview(question: HookResult, rows: Sequence[str]) -> HookResult:
    """Return a question that shows what a call would change in the place of its arguments."""
    first = (question.approval_prompt or "").partition("\n")[0]
    prompt = "\n".join([first, *rows])
    if not rows or len(prompt) > _MAX_CHARS_OF_PREVIEW:
        return question
    return question.model_copy(update={"approval_prompt": prompt})


def deny(reason: str) -> HookResult:
    """Deny, with the reason."""
    return HookResult(action="deny", reason=reason)


def _ask(prompt: str, seconds: float | None) -> HookResult:
    if len(prompt) > _MAX_CHARS:
        return deny(f"the call is too long to ask about (limit: {_MAX_CHARS:,} characters)")
    limit: dict[str, Any] = {} if seconds is None else {"approval_timeout": seconds}
    return HookResult(
        action="ask_user",
        approval_prompt=prompt,
        approval_options=["Allow once", "Deny"],
        approval_default="deny",
        **limit,
    )


def _show(name: str, value: Any, *, clips: bool) -> str:
    if not clips or name not in _LONG or not isinstance(value, str) or len(value) <= _SHOWN_CHARS:
        return quote_value(value)
    return f"{quote_value(value[:_SHOWN_CHARS])} and {len(value) - _SHOWN_CHARS:,} more characters"
