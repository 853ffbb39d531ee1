"""The kinds of failures."""

from __future__ import annotations

from functools import lru_cache
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

`rate_limit`, `timeout`, `network`, `server` (HTTP 5xx including 529) and `stream` are temporary and can be
retried; the others are permanent.
"""


_NUMBERS = (int, float)


class Failure(NamedTuple):
    """What an exception says about itself; missing or broken attributes are None."""

    names: list[str]
    """The names of its class and its base classes."""
    status: int | None
    retryable: bool | None
    retry_after: float | None
    delay_multiplier: float | None


def error_kind(error: BaseException) -> ErrorKind:
    """Return the kind of an exception.

    The most specific known class decides: those of `llm_errors`, of the standard library and of HTTP
    clients. If none is known, the HTTP status decides, found as `status_code` on the exception or
    its `response`.
    """
    failure = failure_of(error)
    return cast(ErrorKind, kind_of(failure.names, failure.status))


def failure_of(error: BaseException) -> Failure:
    """Read what an exception says about itself."""
    return Failure(
        names=_names(type(error)),
        status=_status(error),
        retryable=_retryable(error),
        retry_after=_seconds(_attribute(error, "retry_after")),
        delay_multiplier=_seconds(_attribute(error, "delay_multiplier")),
    )


@lru_cache(maxsize=256)
def _names(kind: type[BaseException]) -> list[str]:
    return [one.__name__ for one in kind.__mro__]


def _status(error: BaseException) -> int | None:
    status = _attribute(error, "status_code")
    if not _is_status(status):
        status = _attribute(_attribute(error, "response"), "status_code")
    return int(status) if _is_status(status) else None


def _is_status(status: Any) -> bool:
    return isinstance(status, int) and 100 <= status <= 599


def _retryable(error: BaseException) -> bool | None:
    said = _attribute(error, "retryable")
    # False is the default of a plain `LLMError`: its status may say more.
    if not isinstance(said, bool) or (type(error) is LLMError and not said):
        return None
    return said


def _seconds(value: Any) -> float | None:
    if isinstance(value, str):
        return asked_wait(value.encode("utf-8", "replace").decode())
    try:
        return float(value) if isinstance(value, _NUMBERS) else None
    except OverflowError:
        return None


def _attribute(source: Any, name: str) -> Any:
    # Foreign code: what it raises must not replace the error that is being examined.
    try:
        return getattr(source, name, None)
    except Exception:  # noqa: BLE001
        return None
