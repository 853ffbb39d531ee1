"""The results with which `hooks-guard` denies or asks."""

from __future__ import annotations

from amplifier_core.models import HookResult


def deny(reason: str) -> HookResult:
    """Deny, with the reason."""
    return HookResult(action="deny", reason=reason)


def ask(question: str) -> HookResult:
    """Ask a person; without an answer the default is to deny."""
    return HookResult(
        action="ask_user",
        approval_prompt=question,
        approval_options=["Allow once", "Deny"],
        approval_default="deny",
    )
