"""What `hooks-guard` answers where something may not go on as it is."""

from __future__ import annotations

from amplifier_core.models import HookResult


def deny(reason: str) -> HookResult:
    """Refuse, and say why."""
    return HookResult(action="deny", reason=reason)


def ask(question: str) -> HookResult:
    """Have a person decide; without an answer it is no."""
    return HookResult(
        action="ask_user",
        approval_prompt=question,
        approval_options=["Allow once", "Deny"],
        approval_default="deny",
    )
