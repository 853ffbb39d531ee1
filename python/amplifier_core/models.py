"""The core models: hook results, tool results, and what modules say about themselves.

The Rust types of the same names write the same JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, Self, cast

from pydantic import (
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    field_serializer,
    field_validator,
    model_serializer,
)

from amplifier_core import plain_data
from amplifier_core._hook_result import ContextInjection, HookResult
from amplifier_core._models import tool_content
from amplifier_core.base_models import ClosedModel, Cost, Integer
from amplifier_core.message_models import ImageBlock, TextBlock

from . import world

__all__ = [
    "ApprovalRequest",
    "ApprovalResponse",
    "ConfigField",
    "ContextInjection",
    "HookResult",
    "ImageBlock",
    "ModelInfo",
    "ModuleInfo",
    "Pricing",
    "ProviderInfo",
    "ProviderResponse",
    "SessionStatus",
    "TextBlock",
    "ToolCall",
    "ToolResult",
    "sanitize_for_llm",
]

sanitize_for_llm = _sanitize_for_llm = tool_content.sanitize_for_llm


class ToolCall(ClosedModel):
    """A tool call in the older form, with `tool` for the name."""

    tool: str
    arguments: dict[str, Any]
    id: str


class ProviderResponse(ClosedModel):
    """A provider's answer in the older form; `ChatResponse` is the one in use."""

    content: str = Field(..., description="Response text content")
    raw: Any | None = Field(default=None, description="Raw provider response object")
    usage: dict[str, Integer] | None = Field(default=None, description="Token usage statistics")
    tool_calls: list[ToolCall] | None = Field(
        default=None, description="Parsed tool calls from response"
    )
    content_blocks: list[Any] | None = Field(
        default=None,
        description=(
            "Structured content blocks (TextContent, ThinkingContent, ToolCallContent, etc.)"
        ),
    )


class ToolResult(ClosedModel):
    """What a tool gave back.

    A failure without output takes the message of its `error` as output. Dumps leave `content` out
    where it is empty.
    """

    model_config = ConfigDict(validate_assignment=True, hide_input_in_errors=True)

    success: bool = True
    output: Any | None = None
    error: dict[str, Any] | None = None
    content: list[TextBlock | ImageBlock] | None = None
    """Text and images for the model; checked on the way in and again on the way out."""

    def model_post_init(self, context: Any, /) -> None:
        """Use the error message of a failure as its output."""
        if not self.success and self.output is None and self.error:
            message = self.error.get("message")
            if message:
                self.output = message

    @field_validator("content", mode="before")
    @classmethod
    def _normalize_content(cls, content: Any) -> Any:
        return tool_content.normalize_content(content)

    @field_serializer("content")
    def _write_content(self, content: Any) -> list[dict[str, Any]] | None:
        return tool_content.normalize_content(content)

    @model_serializer(mode="wrap")
    def _omit_empty_content(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = handler(self)
        if not fields.get("content"):
            fields.pop("content", None)
        return fields

    def __str__(self) -> str:
        """Return the output or the error as a short text."""
        if self.success:
            return str(self.output) if self.output else "Success"
        return self._error_text("Failed")

    def get_serialized_output(self) -> str:
        """Return the text that the model gets, free of control characters.

        Of an output that is nested too deeply for Python's `json`, it has 200 levels.

        Raises:
            TypeError: A dict or list holds something that is neither JSON nor a `Decimal`.
        """
        output = self.output
        if output is None:
            text = "Success" if self.success else self._error_text("Error: Failed")
        elif isinstance(output, _WRITTEN_AS_JSON):
            import json

            try:
                text = json.dumps(cast("object", output), default=_decimal_as_text)
            except RecursionError:
                text = json.dumps(
                    plain_data.cut_depth(output, _MAX_DEPTH), default=_decimal_as_text
                )
        else:
            text = str(output)
        return _sanitize_for_llm(text)

    def safe_hook_presentation(self) -> dict[str, Any]:
        """Return the result for hooks: success, output, error, content, without image data."""
        return tool_content.without_images(self.model_dump())

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy the result with changes; the copy is validated as a new result would be."""
        copy = super().model_copy(deep=deep)
        fields = {name: getattr(copy, name) for name in copy.model_fields_set}
        return type(self).model_validate({**fields, **(update or {})})

    def _error_text(self, without_error: str) -> str:
        if not self.error:
            return without_error
        return f"Error: {self.error.get('message', 'Unknown error')}"


_WRITTEN_AS_JSON = (dict, list)
_MAX_DEPTH = 200
"""Levels of an output that is too deep to be written whole."""


def _decimal_as_text(value: object) -> str:
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


class Pricing(ClosedModel):
    """Prices of a model per million tokens, for display; costs of a turn are in `Usage`."""

    input_per_million: float
    output_per_million: float
    cache_read_per_million: float | None = None
    cache_write_per_million: float | None = None
    currency: str = "USD"
    """Three upper-case letters of ISO 4217."""

    @field_validator("currency")
    @classmethod
    def _check_currency(cls, currency: str) -> str:
        if (
            len(currency) != 3
            or not (currency.isascii() and currency.isalpha())
            or (currency != currency.upper())
        ):
            message = f"currency must be a 3-letter ISO 4217 code such as 'USD', got {currency!r}"
            raise ValueError(message)
        return currency


class ModelInfo(ClosedModel):
    """A model that a provider offers; sizes are in tokens."""

    id: str
    display_name: str
    context_window: Integer
    max_output_tokens: Integer
    capabilities: list[str] = Field(default_factory=list[str])
    defaults: dict[str, Any] = Field(default_factory=dict[str, Any])
    pricing: Pricing | None = None


class ConfigField(ClosedModel):
    """One setting that an application asks the user for."""

    id: str
    display_name: str
    field_type: Literal["text", "secret", "choice", "boolean"] = "text"
    prompt: str
    env_var: str | None = None
    choices: list[str] | None = None
    required: bool = True
    default: str | None = None
    show_when: dict[str, str] | None = None
    """Values of other settings that must hold for this one to be asked."""
    requires_model: bool = False


class ProviderInfo(ClosedModel):
    """A provider: its credentials, capabilities and settings."""

    id: str
    display_name: str
    credential_env_vars: list[str] = Field(default_factory=list[str])
    capabilities: list[str] = Field(default_factory=list[str])
    defaults: dict[str, Any] = Field(default_factory=dict[str, Any])
    config_fields: list[ConfigField] = Field(default_factory=list[ConfigField])


class ModuleInfo(ClosedModel):
    """A module that can be loaded."""

    id: str
    name: str
    version: str
    type: Literal["orchestrator", "provider", "tool", "context", "hook", "resolver"]
    mount_point: str
    description: str
    config_schema: dict[str, Any] | None = None


class SessionStatus(ClosedModel):
    """Status of a session."""

    session_id: str
    started_at: datetime = Field(default_factory=lambda: datetime.fromtimestamp(world.time()))
    """Local time, without a zone."""
    ended_at: datetime | None = None
    status: Literal["running", "completed", "failed", "cancelled"] = "running"
    total_messages: Integer = 0
    tool_invocations: Integer = 0
    tool_successes: Integer = 0
    tool_failures: Integer = 0
    total_input_tokens: Integer = 0
    total_output_tokens: Integer = 0
    cost_usd: Cost = None
    last_activity: datetime | None = None
    last_error: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the status as plain JSON data, without what is None."""
        return self.model_dump(mode="json", exclude_none=True)


class ApprovalRequest(ClosedModel):
    """A tool's wish to do something that needs permission."""

    tool_name: str
    """Tool that asks."""

    action: str
    """What it is about to do, written for the user."""

    details: dict[str, Any] = Field(default_factory=dict[str, Any])
    """What else helps to decide."""

    risk_level: str
    """How bad it may turn out: `low`, `medium`, `high` or `critical`."""

    timeout: float | None = None
    """Seconds to wait for an answer; None waits without limit."""

    def model_post_init(self, context: Any, /) -> None:
        """Refuse a timeout of zero or less."""
        if self.timeout is not None and self.timeout <= 0:
            raise ValueError("Timeout must be positive or None (infinite wait)")


class ApprovalResponse(ClosedModel):
    """The answer to an `ApprovalRequest`."""

    approved: bool
    """Whether the tool may proceed."""

    reason: str | None = None
    """Why, if a reason was given."""

    remember: bool = False
    """Whether the answer applies to the same request in future."""
