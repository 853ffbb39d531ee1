"""The request to a model, built from the messages of the context and the mounted tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from amplifier_core.message_models import ChatRequest, Message, ToolSpec
from amplifier_providers.answers.wrapped_calls import find_wrappers, wrap_message
from amplifier_providers.requests.foreign_form import InvalidMessageError, is_foreign, make_native

from ..contexts.changes import OwnMessage, SentMessages, count_changes
from .settings import LoopSettings

_CHUNK = 256
"""Messages compared at once: comparing slices of lists is faster than a loop."""
# The validators themselves: `model_validate` takes half as long again for a message.
_request_of = ChatRequest.__pydantic_validator__.validate_python
_message_of = Message.__pydantic_validator__.validate_python
_EMPTY_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


class RequestBuilder:
    """Builds requests, and keeps the message models of the last one.

    A long history is validated once, not once for each call. Messages are compared with those at
    the same place in the last request, one level deep where they are the same object: a context
    that changes something deeper inside a message must return a new dict. Messages of our own
    contexts count their changes, and are compared by identity while there are none; where a context
    says itself that the messages of the last request are unchanged, they are not compared.
    """

    __slots__ = (
        "_changes",
        "_lineage",
        "_models_of_last",
        "_settings",
        "_snapshots",
        "_specs",
        "_wrappers",
        "_wraps_calls",
    )

    def __init__(self, settings: LoopSettings) -> None:
        """Build requests with these settings."""
        self._settings = settings
        self._snapshots: list[dict[str, Any]] = []
        self._changes = 0
        self._lineage: object = None
        self._models_of_last: list[Message] = []
        self._specs: Sequence[ToolSpec] = ()
        self._wraps_calls = False
        self._wrappers: dict[str, str] = {}
        """The tools through which calls were made, by the ids of these."""

    def build(
        self, messages: list[dict[str, Any]], tools: list[ToolSpec], **options: Any
    ) -> ChatRequest:
        """Return the request for these messages.

        Raises:
            InvalidMessageError: One of them is not a valid message; a `ValueError`.
        """
        effort = self._settings.reasoning_effort
        fields = {"messages": [], "tools": tools or None, "reasoning_effort": effort, **options}
        request: ChatRequest = _request_of(fields)
        # Each of them was validated when it was made: a second look costs as much as all else here.
        request.messages.extend(self._make_models(messages))
        return request

    def tool_specs(self, tools: Mapping[str, Any]) -> list[ToolSpec]:
        """Return the tools in the form for models, under their mount names."""
        specs = tool_specs(tools, self._specs)
        self._specs = tuple(specs)
        return specs

    def wrap_calls(self, *, wraps: bool) -> None:
        """Write the calls that were made through another tool as they were made, or directly.

        Args:
            wraps: Whether requests have the tool through which they were made.
        """
        if wraps != self._wraps_calls:
            self._wraps_calls = wraps
            self._snapshots.clear()

    def _make_models(self, messages: list[dict[str, Any]]) -> list[Message]:
        if self._changes != count_changes():
            # A message that is its own snapshot equals it, whatever was changed in it.
            self._snapshots.clear()
            self._changes = count_changes()
        snapshots, models = self._snapshots, self._models_of_last
        known = min(len(snapshots), len(messages))
        del snapshots[known:], models[known:]
        lineage = messages.lineage if type(messages) is SentMessages else None
        # None until all of these messages are known: one may be invalid.
        before, self._lineage = self._lineage, None
        if lineage is None or lineage != before:
            self._compare(messages, known)
        for position in range(known, len(messages)):
            models.append(self._make_sent(messages, position))
            snapshots.append(_take_snapshot(messages[position]))
        self._lineage = lineage
        return models

    def _compare(self, messages: list[dict[str, Any]], known: int) -> None:
        """Read the messages again that differ from those of the last request."""
        for start in range(0, known, _CHUNK):
            end = min(start + _CHUNK, known)
            if messages[start:end] == self._snapshots[start:end]:
                continue
            for index in range(start, end):
                if messages[index] != self._snapshots[index]:
                    self._models_of_last[index] = self._make_sent(messages, index)
                    self._snapshots[index] = _take_snapshot(messages[index])

    def _make_sent(self, messages: list[dict[str, Any]], position: int) -> Message:
        """Return a message as it is sent."""
        model = _make_model(messages, position)
        if not self._wraps_calls:
            return model
        if model.role == "assistant" and (wrappers := find_wrappers(model)):
            self._wrappers |= wrappers
            return wrap_message(model, wrappers)
        if model.role == "tool" and model.name is not None:
            name = self._wrappers.get(model.tool_call_id or "")
            return model if name is None else model.model_copy(update={"name": name})
        return model


def tool_specs(tools: Mapping[str, Any], before: Iterable[ToolSpec] = ()) -> list[ToolSpec]:
    """Return the tools in the form for models, under their mount names.

    Args:
        tools: The tools by name.
        before: The specs of the last request; those that are still right are taken over.
    """
    known = {spec.name: spec for spec in before}
    specs: list[ToolSpec] = []
    for name, tool in tools.items():
        schema: dict[str, Any] | None = getattr(tool, "input_schema", None)
        if not schema or not isinstance(schema, dict):  # pyright: ignore[reportUnnecessaryIsInstance] -- tools may not be typed
            schema = _EMPTY_SCHEMA
        description: str | None = getattr(tool, "description", None)
        if not isinstance(description, str):
            description = None
        spec = known.get(name)
        if spec is None or spec.description != description or spec.parameters != schema:
            spec = ToolSpec(name=name, parameters=schema, description=description)
        specs.append(spec)
    return specs


def _take_snapshot(message: dict[str, Any]) -> dict[str, Any]:
    """Return what a message is compared with: a copy, as one changed in place would equal itself."""
    return message if type(message) is OwnMessage else dict(message)


def _make_model(messages: list[dict[str, Any]], position: int) -> Message:
    message = messages[position]
    if type(message.get("content")) is not str or message.get("role") != "tool":
        # Else a result, nearly half of the messages of most requests.
        if is_foreign(message):
            message = make_native(messages, position)
        if message.get("content", "") is None:
            # OpenAI's form of an assistant message with tool calls only.
            message = {**message, "content": ""}
    try:
        return _message_of(message)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        problem = f"`{place}` cannot be used ({first['msg']})"
        raise InvalidMessageError(position, message.get("role"), problem) from error
