"""The errors of a call, of a configuration, and of what a model wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .types import LLMResponse

_LONGEST_BODY = 500
"""Characters of what a server or a model wrote that the message of an error shows."""


class ArcLLMError(Exception):
    """What all errors of this package have in common."""


class ArcLLMParseError(ArcLLMError):
    """Something that a model or a server wrote cannot be read.

    A call whose arguments are no JSON object never becomes a `ToolCall`: this error takes the place
    of its response, which it has as `response`, so that an agent can log the text, ask again, or
    say to the model what is wrong.

    Args:
        raw_string: What cannot be read.
        original_error: Why.
    """

    response: LLMResponse | None = None
    """The rest of the answer, whose `metadata["unparsed_calls"]` lists the calls; None if there is
    no answer."""

    def __init__(self, raw_string: str, original_error: Exception) -> None:
        super().__init__(raw_string, original_error)
        self.raw_string = raw_string
        self.original_error = original_error

    def __str__(self) -> str:
        """Say why, and show the beginning of what cannot be read."""
        return f"cannot read {_cut(self.raw_string)!r}: {self.original_error}"


class ArcLLMConfigError(ArcLLMError):
    """A configuration, or what is asked of a model, cannot be used.

    Args:
        message: What was found, and what would be right.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ArcLLMAPIError(ArcLLMError):
    """A service refused a call, could not be reached, or broke off.

    Args:
        status_code: The status of the HTTP answer; None if there was none.
        body: The beginning of what the service answered, as it sent it, or what happened to the
            connection.
        provider: Which service.
        retry_after: After how many seconds it wants to be asked again; None if it did not say.
        retryable: Whether the same call may succeed later; None where the status says it.
        hint: What can be done about it, where that is known.
        message: What it says, for people; the body if not given.
    """

    def __init__(
        self,
        status_code: int | None,
        body: str,
        provider: str,
        retry_after: float | None = None,
        retryable: bool | None = None,
        hint: str | None = None,
        message: str | None = None,
    ) -> None:
        super().__init__(status_code, body, provider, retry_after, retryable, hint, message)
        self.status_code = status_code
        self.body = body
        self.provider = provider
        self.retry_after = retry_after
        self.retryable = retryable
        self.hint = hint
        self.message = message or body

    def __str__(self) -> str:
        """Name the service and the status, show the beginning of what it said, and the hint."""
        text = _cut(self.message)
        is_known = self.status_code is None or f"({self.status_code}" in text
        status = "" if is_known else f" ({self.status_code})"
        hint = f"; {self.hint}" if self.hint and self.hint not in text else ""
        return f"`{self.provider}`{status}: {text}{hint}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_BODY else f"{text[:_LONGEST_BODY]}…"


class ArcLLMSecurityError(ArcLLMError):
    """A call or an answer holds what must not leave or come in. The message does not repeat it.

    Args:
        direction: `request` for what was to be sent, `response` for what came.
        types: What was found: types of personal data, or `SECRET`.
    """

    def __init__(self, direction: Literal["request", "response"], types: tuple[str, ...]) -> None:
        super().__init__(direction, types)
        self.direction: Literal["request", "response"] = direction
        self.types = types

    def __str__(self) -> str:
        """Say what was found, and where."""
        listed = ", ".join(f"`{each}`" for each in self.types)
        return f"the {self.direction} holds {listed} and was blocked"
