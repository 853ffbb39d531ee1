"""A request for a completion as the rules see it, and the fields of each of its objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..openai.models import OpenAIModel
from ..openai.refusals import as_object, check_fields, check_value
from ..serving.fields import Fields, Path, read_sdk_fields
from ..serving.issued import Issued
from ..serving.reading import Json, read_items, read_objects, read_text
from .presets import Preset

_ROLE = Fields({"role": "string"})
_SDK = read_sdk_fields("chat")
BODY = _SDK.objects["body"].extend({"model": "string", "messages": "array"})
_MESSAGES = _SDK.groups["messages"]
MESSAGES: Mapping[str, Fields] = {
    **_MESSAGES,
    # An answer that comes back holds null where it has nothing, and the sources of a search.
    "assistant": _MESSAGES["assistant"].extend(
        optional={"annotations": "any", "name": "string|null", "tool_calls": "array|null"}
    ),
    # Clients that knew functions before tools name the tool, as Mistral asks for.
    "tool": _MESSAGES["tool"].extend(optional={"name": "string|null"}),
}
"""The fields of a message, by its role and without it."""
USER_PARTS = _SDK.groups["user_parts"]
DOCUMENT_PARTS: Mapping[str, Fields] = {
    **{name: fields for name, fields in USER_PARTS.items() if name != "file"},
    "document_url": Fields({"document_url": "string"}, {"document_name": "string|null"}),
}
"""What Mistral has in their place."""
ASSISTANT_PARTS = _SDK.groups["assistant_parts"]
TEXT_PARTS = {"text": USER_PARTS["text"]}
THINKING_PARTS: Mapping[str, Fields] = {
    "thinking": Fields({"thinking": "array"}, {"closed": "any"})
}
"""What Mistral has besides."""
IMAGE_URL = _SDK.objects["image_url"]
TOOL_CALL = _SDK.objects["tool_call"]
CUSTOM_CALL = _SDK.objects["custom_call"]
CALL_FUNCTION = _SDK.objects["call_function"]
TOOL = _SDK.objects["tool"]
CUSTOM_TOOL = _SDK.objects["custom_tool"]
FUNCTION = _SDK.objects["function"]
STREAM_OPTIONS = _SDK.objects["stream_options"]
FORMATS = _SDK.groups["formats"]
JSON_SCHEMA = _SDK.objects["json_schema"]


@dataclass(frozen=True)
class JudgedRequest:
    """A request whose fields are known, with what the server knows."""

    body: Json
    model: OpenAIModel
    messages: list[Json]
    preset: Preset
    issued: Issued | None
    reasoned: Mapping[str, str]
    """The reasoning that the server sent before its calls, by the ids of these."""

    def of_role(self, *roles: str) -> Iterator[tuple[Path, Json]]:
        """Yield the messages of these roles and where they are."""
        for index, message in enumerate(self.messages):
            if message["role"] in roles:
                yield ("messages", index), message

    @cached_property
    def effort(self) -> str:
        """The reasoning effort that is asked for."""
        return read_text(self.body.get("reasoning_effort"))

    @cached_property
    def tools(self) -> list[Json]:
        """The tools."""
        return read_objects(self.body.get("tools"))

    @cached_property
    def loop_start(self) -> int:
        """Where the turn in progress begins: at the last message of the user."""
        places = [i for i, message in enumerate(self.messages) if message["role"] == "user"]
        return places[-1] if places else 0


def read_messages(body: Json, preset: Preset) -> list[Json]:
    """Read the messages, or refuse one whose shape is wrong."""
    messages: list[Json] = []
    for index, value in enumerate(body["messages"]):
        path: Path = ("messages", index)
        message = as_object(value, path)
        check_fields({"role": message["role"]} if "role" in message else {}, _ROLE, path)
        check_value(message["role"], MESSAGES, (*path, "role"))
        fields = MESSAGES[message["role"]]
        if message["role"] == "assistant":
            fields = Fields(fields.required, {**fields.optional, **preset.message_fields})
        inner = {name: message[name] for name in message if name != "role"}
        check_fields(inner, fields, path)
        messages.append(message)
    return messages


def calls_of(message: Json) -> list[Json]:
    """Return the tool calls of a message."""
    return read_objects(read_items(message.get("tool_calls")))


# In the order in which the service reports that they are missing.
