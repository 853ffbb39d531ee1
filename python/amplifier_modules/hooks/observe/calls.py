"""One model call, from the event that begins it to the one that ends it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from amplifier_core.events import LLM_POST, LLM_PRE, LLM_REQUEST, LLM_RESPONSE
from amplifier_providers.statistics import OTHER

__all__ = ["ENDS", "ModelCall", "Usage", "error_type", "read_mapping", "text_at"]

ENDS = {LLM_PRE: LLM_POST, LLM_REQUEST: LLM_RESPONSE}
"""The event that ends a call, by the one that begins it: of the loop, or else of the provider."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a response; None if not reported."""

    input: int | None = None
    """All input, including what was read from and written to a cache."""
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None

    @classmethod
    def of(cls, payload: Any) -> Usage:
        """Read the usage of an event."""
        found = read_mapping(payload)

        def count(name: str) -> int | None:
            value = found.get(name)
            return value if isinstance(value, int) and not isinstance(value, bool) else None

        return cls(
            count("input_tokens"), count("output_tokens"),
            count("cache_read_tokens"), count("cache_write_tokens"),
        )  # fmt: skip


@dataclass(slots=True)
class ModelCall:
    """A call of the model."""

    begun_by: str
    """The event that came first."""
    provider: str
    model: str
    start: datetime
    begun: float
    """Seconds of the monotonic clock."""
    response_model: str | None = None
    finish_reason: str | None = None
    usage: Usage = Usage()
    error: str | None = None
    """The type of the failure."""
    end: datetime | None = None
    duration: float = 0.0
    """Seconds."""

    @property
    def name(self) -> str:
        """Provider and model, as far as they are known."""
        return "/".join(part for part in (self.provider, self.model) if part)

    def read(self, data: Mapping[str, Any]) -> None:
        """Take the data of an event at its end."""
        self.response_model = text_at(data, "model") or self.response_model
        self.finish_reason = text_at(data, "finish_reason") or self.finish_reason
        if data.get("usage"):
            self.usage = Usage.of(data["usage"])
        if data.get("status") == "error" and (found := error_type(data)) != OTHER:
            self.error = found
        elif data.get("status") == "cancelled":
            self.error = "cancelled"


def read_mapping(value: Any) -> Mapping[str, Any]:
    """Return an object of a payload; empty if it is not an object."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def text_at(data: Mapping[str, Any], key: str) -> str:
    """Return a text of a payload; empty if there is none."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def error_type(data: Mapping[str, Any]) -> str:
    """Return the type of the error in an event, `_OTHER` if it names none."""
    return text_at(read_mapping(data.get("error")), "type") or text_at(data, "error_type") or OTHER
