"""What an operation was doing when it failed, without secrets."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, TypeAlias

from pydantic import (
    AfterValidator,
    Field,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    model_serializer,
)
from typing_extensions import override

from amplifier_core import world
from amplifier_core._engine import (
    describe_error_context,
    enter_error_context,
    error_context_limits,
    retry_error_context,
)
from amplifier_core.base_models import ClosedModel
from amplifier_guard.error_kind import ErrorKind
from amplifier_guard.redact import Redactor

Redact: TypeAlias = Callable[[str, str], str]
"""Takes the name of a field or of metadata and its text, and returns the text without secrets."""

_MOST_OPERATIONS, _MOST_RETRIES = error_context_limits()


def _read_clock() -> datetime:
    return datetime.fromtimestamp(world.time(), UTC)


def _make_writable(text: str) -> str:
    """A text without lone surrogates, which JSON cannot hold."""
    return text.encode("utf-8", "backslashreplace").decode()


@cache
def _make_redactor() -> Redactor:
    return Redactor()


@cache
def _make_time_adapter() -> TypeAdapter[datetime]:
    return TypeAdapter(datetime)


class _Kept:
    """The redactor of a context; it is not part of the context's value."""

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kept)

    @override
    def __hash__(self) -> int:
        return hash(_Kept)

    def __deepcopy__(self, _: object) -> _Kept:
        return self


def _redact_by(redactor: Redactor) -> Redact:
    """Redact a text by what it looks like and by its name."""
    return lambda name, text: next(iter(redactor.redact_data({name: text}).values()))


def _redact_text(redact: Redact, name: str, text: str) -> str:
    return _make_writable(redact(name, _make_writable(text)))


class PastOperation(ClosedModel):
    """An operation that is over."""

    operation: str
    timestamp: datetime
    """When it ended."""
    error: str | None = None
    """The kind of failure it ended with, if it failed."""


def _keep_latest(history: list[PastOperation]) -> list[PastOperation]:
    return history[-_MOST_OPERATIONS:]


class ErrorContext(ClosedModel):
    """What an operation was doing when it failed; the type of seed 001, one JSON in Rust and here.

    A context made by `builder` holds no secret that its redactor knows. Whatever is assigned later,
    the written forms (`str`, `model_dump`, `model_dump_json`) contain nothing that this redactor
    finds, or a `Redactor` without keys if none was given. `str(context)` is one line for logs:
    identifiers are cut at 8 characters, values at 100, the whole at 500, and control characters are
    escaped.
    """

    operation: str
    timestamp: datetime = Field(default_factory=_read_clock)
    """When it began."""
    message_id: str | None = None
    tool_use_id: str | None = None
    retry_count: Annotated[int, Field(ge=0, le=_MOST_RETRIES)] = 0
    metadata: dict[str, str] = Field(default_factory=dict[str, str])
    history: Annotated[list[PastOperation], AfterValidator(_keep_latest)] = Field(
        default_factory=list[PastOperation]
    )
    """The latest 32 operations before this one."""
    _kept: _Kept = PrivateAttr(default_factory=lambda: _Kept(_make_redactor()))

    @model_serializer(mode="wrap")
    def _write_redacted(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Take the secrets out of each text by its name, and by what it looks like."""
        return self._kept.redactor.redact_data(write(self))

    @classmethod
    def builder(
        cls,
        operation: str,
        *,
        redact: Redactor | Redact | None = None,
        timestamp: datetime | None = None,
    ) -> ErrorContextBuilder:
        """Begin a context.

        Args:
            operation: What is being done.
            redact: Returns each text without secrets; None for a `Redactor` without keys, which
                recognises secrets by their shape and their names.
            timestamp: When it began; None for now in UTC.
        """
        kept = redact if isinstance(redact, Redactor) else _make_redactor()
        redact = redact if callable(redact) else _redact_by(kept)
        context = cls(
            operation=_redact_text(redact, "operation", operation),
            timestamp=timestamp or _read_clock(),
        )
        context._kept = _Kept(kept)
        return ErrorContextBuilder(context, redact)

    def enter_operation(self, operation: str, timestamp: datetime | None = None) -> None:
        """Go on to another operation; the current one becomes history."""
        at = _make_time_adapter().dump_python(timestamp or _read_clock(), mode="json")
        self._follow(enter_error_context(self._write_json(), _make_writable(operation), at))

    def record_retry(self, kind: ErrorKind, timestamp: datetime | None = None) -> None:
        """Record that the operation failed and is tried again."""
        at = _make_time_adapter().dump_python(timestamp or _read_clock(), mode="json")
        self._follow(retry_error_context(self._write_json(), kind, at))

    def _follow(self, written: str) -> None:
        """Take over what the engine has made of the context."""
        context = ErrorContext.model_validate_json(written)
        self.operation, self.timestamp = context.operation, context.timestamp
        self.retry_count, self.history = context.retry_count, context.history

    def _write_json(self) -> bytes:
        # Not by `model_dump_json`, which fails on a lone surrogate: reporting an error must not.
        written = json.dumps(self.model_dump(mode="json"), ensure_ascii=False)
        return written.encode("utf-8", "replace")

    def __str__(self) -> str:
        """Describe the context in one line."""
        return describe_error_context(self._write_json())


class ErrorContextBuilder:
    """Makes an `ErrorContext` without secrets; each method returns the builder."""

    def __init__(self, context: ErrorContext, redact: Redact) -> None:
        self._context = context
        self._redact = redact

    def message_id(self, message_id: str) -> ErrorContextBuilder:
        """Set the message id."""
        self._context.message_id = self._redact_text("message_id", message_id)
        return self

    def tool_use_id(self, tool_use_id: str) -> ErrorContextBuilder:
        """Set the id of the tool call."""
        self._context.tool_use_id = self._redact_text("tool_use_id", tool_use_id)
        return self

    def metadata(self, name: str, value: str) -> ErrorContextBuilder:
        """Add metadata; its name is redacted, too."""
        value = self._redact_text(name, value)
        self._context.metadata[self._redact_text("metadata", name)] = value
        return self

    def build(self) -> ErrorContext:
        """Return the context."""
        return self._context.model_copy(deep=True)

    def _redact_text(self, name: str, text: str) -> str:
        return _redact_text(self._redact, name, text)
