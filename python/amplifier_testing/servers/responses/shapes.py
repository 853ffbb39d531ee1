"""The fields of each object of a request: those of the SDK, and where the service differs from it."""

from __future__ import annotations

from collections.abc import Mapping

from ..serving.fields import Fields, read_sdk_fields

_SDK = read_sdk_fields("responses")

# A stored prompt names a model, too: this server has none.
BODY = _SDK.objects["body"].extend({"model": "string"})
REASONING = _SDK.objects["reasoning"]
TEXT = _SDK.objects["text"]
FORMATS = _SDK.groups["formats"]
STREAM_OPTIONS = _SDK.objects["stream_options"]

_NULLS = {
    "content": "array|null",
    "id": "string|null",
    "namespace": "string|null",
    "status": "string|null",
}
"""What an item of an answer holds as null, in the form in which the SDK writes it."""
_NULL_FIELDS: Mapping[str, tuple[str, ...]] = {
    "message": ("id", "status"),
    "function_call": ("id", "namespace", "status"),
    "function_call_output": ("id", "namespace", "status"),
    "reasoning": ("content", "status"),
    "custom_tool_call": ("id", "namespace", "status"),
    "custom_tool_call_output": ("id", "namespace", "status"),
}

_ITEMS = _SDK.groups["items"]
ITEMS: Mapping[str, Fields] = {
    **_ITEMS,
    **{
        name: _ITEMS[name].extend(optional={field: _NULLS[field] for field in fields})
        for name, fields in _NULL_FIELDS.items()
    },
}
"""The items of the input."""

PREFIXES = {
    "message": "msg",
    "function_call": "fc",
    "reasoning": "rs",
    "custom_tool_call": "ctc",
    "web_search_call": "ws",
    "file_search_call": "fs",
    "code_interpreter_call": "ci",
    "mcp_call": "mcp",
}
"""How the ids of items begin."""

_INPUT_PARTS = _SDK.groups["input_parts"]
INPUT_PARTS: Mapping[str, Fields] = {
    **_INPUT_PARTS,
    # Without it the service chooses, as its reference says.
    "input_image": _INPUT_PARTS["input_image"].extend(optional={"detail": "string|null"}),
}
_OUTPUT_PARTS = _SDK.groups["output_parts"]
OUTPUT_PARTS: Mapping[str, Fields] = {
    **_OUTPUT_PARTS,
    # A text that comes back needs no sources.
    "output_text": _OUTPUT_PARTS["output_text"].extend(
        optional={"annotations": "array", "logprobs": "array|null"}
    ),
}

_TOOLS = _SDK.groups["tools"]
TOOLS: Mapping[str, Fields] = {
    **_TOOLS,
    # Without it a function is strict if its schema can be.
    "function": _TOOLS["function"].extend(optional={"strict": "boolean|null"}),
}

INCLUDES = (
    "code_interpreter_call.outputs",
    "computer_call_output.output.image_url",
    "file_search_call.results",
    "message.input_image.image_url",
    "message.output_text.logprobs",
    "reasoning.encrypted_content",
    "web_search_call.action.sources",
    "web_search_call.results",
)
