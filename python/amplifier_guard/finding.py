"""What looks suspicious in a message, and where."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import ConfigDict

from amplifier_core._models.base_model import ClosedModel

FindingKind: TypeAlias = Literal[
    "prompt_injection",
    "script",
    "path_traversal",
    "shell_command",
    "credential",
    "hidden_character",
]

OnFinding: TypeAlias = Literal["report", "ask", "reject"]
"""Tell of findings; have a person decide; refuse the message."""


class Finding(ClosedModel):
    """A suspicious part of a message. It says where, and not what: the text may be secret."""

    model_config = ConfigDict(frozen=True)

    kind: FindingKind
    pointer: str
    """Which text of the message, as a JSON pointer: `/content/0/text`."""
    start: int
    """The first character, counted from 0 as Python counts."""
    end: int
    """The character after the last one."""
