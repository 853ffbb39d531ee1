"""The fields of each object of a request: those of the SDK, and where the service differs from it."""

from __future__ import annotations

from collections.abc import Mapping

from ..serving.fields import Fields
from ..serving.sdk_fields import read_sdk_fields

_SDK = read_sdk_fields("chat")

# In the order in which the service reports that they are missing.
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
