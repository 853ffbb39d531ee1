"""The decision in a user's answer to an approval."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Literal

GRANTS = frozenset({"allow", "allow once", "allow always"})
"""Answers that approve, whatever options were offered."""

CONSENT = frozenset(
    {"accept", "allow", "approve", "confirm", "continue", "grant", "ok", "proceed", "yes"}
)
"""First words of options that grant."""

REFUSAL = frozenset(
    {
        "abort",
        "block",
        "cancel",
        "decline",
        "deny",
        "disallow",
        "do",
        "don't",
        "never",
        "no",
        "reject",
        "stop",
    }
)
"""First words of options that refuse."""


def read_approval(
    decision: str, options: Sequence[str]
) -> Literal["granted", "denied", "unexpected"]:
    """Read the decision of an approval system.

    `allow`, `allow once` and `allow always` grant in any case. Of options that the caller offers
    itself, one that begins with a word of refusal refuses, one that begins with a word of consent
    grants, and of others the first grants. A decision that was never offered refuses.
    """
    decision = decision.lower()
    if decision in GRANTS:
        return "granted"
    word = "".join(takewhile(lambda letter: letter.isalnum() or letter == "'", decision))
    offered = [option.lower() for option in options]
    if decision not in offered:
        return "denied" if word == "deny" else "unexpected"
    if word in REFUSAL:
        return "denied"
    return "granted" if word in CONSENT or decision == offered[0] else "denied"


def clip_prompt(prompt: str) -> str:
    """Cut a long prompt for a reason or a log line."""
    return prompt if len(prompt) <= 200 else f"{prompt[:200]}...[truncated]"
