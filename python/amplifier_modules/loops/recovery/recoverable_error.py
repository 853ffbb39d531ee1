"""What a model can correct in its next answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ErrorKind(Enum):
    """What is wrong with an answer or one of its calls."""

    NO_TOOL_CALL = "no_tool_call"
    """An answer without a call where one is required."""
    QUOTED_CALL = "quoted_call"
    """An answer that ends with a call in code, a comment or a quotation, where it does not run."""
    BAD_PAYLOAD = "bad_payload"
    """A call that cannot be read."""
    NO_TOOL_NAME = "no_tool_name"
    UNKNOWN_TOOL = "unknown_tool"
    BAD_ARGUMENTS = "bad_arguments"
    """Arguments that do not fit the schema of the tool."""
    TOOL_FAILED = "tool_failed"
    CALL_DENIED = "call_denied"


Identity = tuple[ErrorKind, str, str]
"""What identical errors have in common: kind, tool, and text."""


@dataclass(frozen=True)
class RecoverableError:
    """An error that the model reads of and may correct."""

    kind: ErrorKind
    text: str
    """What was found."""
    tool_name: str = ""
    call_id: str | None = None
    index: int | None = None
    """The number of the call in its answer, from 0; None for the answer itself."""

    @property
    def identity(self) -> Identity:
        """What makes it identical to another.

        Of a call that cannot be read, the text does not count: it has positions and quotations,
        which differ even if the model repeats its mistake.
        """
        is_unreadable = self.kind in {ErrorKind.BAD_PAYLOAD, ErrorKind.NO_TOOL_NAME}
        return self.kind, self.tool_name, "" if is_unreadable else self.text
