"""The request to a model, built from what the context holds and the tools that are mounted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from amplifier_core.message_models import ChatRequest, Message, ToolSpec

from .settings import LoopSettings

_EMPTY_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


class RequestBuilder:
    """Builds requests, and keeps the models of the messages that the last one was made of.

    A long history is validated once, not once for each call. A message is known by its identity
    and by its top-level values; a context that changes something deeper inside of a message that
    it handed out before must hand out a new dict.
    """

    def __init__(self, settings: LoopSettings) -> None:
        """Build requests by these settings."""
        self._settings = settings
        self._known: dict[int, tuple[dict[str, Any], dict[str, Any], Message]] = {}

    def build(
        self, messages: list[dict[str, Any]], tools: list[ToolSpec], **options: Any
    ) -> ChatRequest:
        """Return the request for these messages.

        Raises:
            ValidationError: One of them is no message, a `ValueError`.
        """
        return ChatRequest(
            messages=self._models(messages),
            tools=tools or None,
            reasoning_effort=self._settings.reasoning_effort,
            **options,
        )

    def _models(self, messages: list[dict[str, Any]]) -> list[Message]:
        known = self._known
        used: dict[int, tuple[dict[str, Any], dict[str, Any], Message]] = {}
        models: list[Message] = []
        for message in messages:
            key = id(message)
            entry = known.get(key)
            # The entry keeps its dict alive, so that the identity cannot be another's.
            if entry is None or entry[0] is not message or entry[1] != message:
                entry = (message, dict(message), _model(message))
            used[key] = entry
            models.append(entry[2])
        self._known = used
        return models


def tool_specs(tools: Mapping[str, Any]) -> list[ToolSpec]:
    """Return the tools as models are told of them, under the names they are mounted as."""
    return list(_specs(tools.items()))


def _specs(tools: Iterable[tuple[str, Any]]) -> Iterable[ToolSpec]:
    for name, tool in tools:
        schema = getattr(tool, "input_schema", None)
        description = getattr(tool, "description", None)
        yield ToolSpec(
            name=name,
            parameters=schema if isinstance(schema, dict) and schema else _EMPTY_SCHEMA,  # pyright: ignore[reportUnknownArgumentType] -- a tool's own dict
            description=description if isinstance(description, str) else None,
        )


def _model(message: dict[str, Any]) -> Message:
    if message.get("content", "") is None:
        # As OpenAI writes an assistant message that has tool calls alone.
        message = {**message, "content": ""}
    return Message.model_validate(message)
