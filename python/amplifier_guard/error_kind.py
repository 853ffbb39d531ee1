"""What kind of failure an exception is."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias, cast

from amplifier_core._engine import asked_wait
from amplifier_core._engine import error_kind as kind_of
from amplifier_core.llm_errors import LLMError

ErrorKind: TypeAlias = Literal[
    "validation",
    "authentication",
    "permission",
    "quota",
    "rate_limit",
    "timeout",
    "network",
    "server",
    "stream",
    "context_length",
    "content_filter",
    "not_found",
    "tool",
    "storage",
    "configuration",
    "cancelled",
    "internal",
]
"""The words of seed 001's error kinds.

`rate_limit`, `timeout`, `network`, `server` (HTTP 5xx, 529 among them) and `stream` may pass by
themselves, so that another try has a point; the others do not.
"""


class Failure(NamedTuple):
    """What an exception says of itself; whatever it does not say, or fails to, is None."""

    names: list[str]
    """Its class and those above it."""
    status: int | None
    retryable: bool | None
    retry_after: float | None
    delay_multiplier: float | None


def error_kind(error: BaseException) -> ErrorKind:
    """Give the kind of an exception.

    The most specific class that is known decides: those of `llm_errors`, of the standard library and
    of HTTP clients. Where none is known the HTTP status does, found as `status_code` on the
    exception or on its `response`.
    """
    failure = failure_of(error)
    return cast(ErrorKind, kind_of(failure.names, failure.status))


def failure_of(error: BaseException) -> Failure:
    """Ask an exception for what it says of itself."""
    return Failure(
        names=[one.__name__ for one in type(error).__mro__],
        status=_status(error),
        retryable=_retryable(error),
        retry_after=_seconds(_attribute(error, "retry_after")),
        delay_multiplier=_seconds(_attribute(error, "delay_multiplier")),
    )


def _status(error: BaseException) -> int | None:
    for source in (error, _attribute(error, "response")):
        status = _attribute(source, "status_code")
        if isinstance(status, int) and 100 <= status <= 599:
            return int(status)
    return None


def _retryable(error: BaseException) -> bool | None:
    said = _attribute(error, "retryable")
    # An `LLMError` of no more special class says no by default: its status may know better.
    if not isinstance(said, bool) or (type(error) is LLMError and not said):
        return None
    return said


def _seconds(value: Any) -> float | None:
    if isinstance(value, str):
        return asked_wait(value.encode("utf-8", "replace").decode())
    try:
        return float(value) if isinstance(value, int | float) else None
    except OverflowError:
        return None


def _attribute(source: Any, name: str) -> Any:
    # Foreign code, and what it raises must not take the place of the error that is looked at.
    try:
        return getattr(source, name, None)
    except Exception:  # noqa: BLE001
        return None
