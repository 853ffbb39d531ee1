"""Suspicious parts of a message."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import ConfigDict

from amplifier_core.base_models import ClosedModel

FindingKind: TypeAlias = Literal[
    "prompt_injection",
    "script",
    "path_traversal",
    "shell_command",
    "credential",
    "hidden_character",
]

OnFinding: TypeAlias = Literal["report", "ask", "reject"]
"""Report findings, ask a person, or refuse the message."""


class Finding(ClosedModel):
    """A suspicious part of a message: its place, but not its text, which may be secret."""

    model_config = ConfigDict(frozen=True)

    kind: FindingKind
    pointer: str
    """The text it is in, as a JSON pointer into the message: `/content/0/text`."""
    start: int
    """Index of its first character."""
    end: int
    """Index after its last character."""
