"""The fields of each object of a request, and of which types they are."""

from __future__ import annotations

from collections.abc import Mapping

from ..serving.fields import Fields

BODY = Fields(
    {"model": "string", "messages": "array"},
    {
        "audio": "object|null",
        "frequency_penalty": "number|null",
        "function_call": "any",
        "functions": "array",
        "logit_bias": "object|null",
        "logprobs": "boolean|null",
        "max_completion_tokens": "integer|null",
        "max_tokens": "integer|null",
        "metadata": "object|null",
        "modalities": "array|null",
        "moderation": "any",
        "n": "integer|null",
        "parallel_tool_calls": "boolean",
        "prediction": "object|null",
        "presence_penalty": "number|null",
        "prompt_cache_key": "string|null",
        "prompt_cache_options": "any",
        "prompt_cache_retention": "string|null",
        "reasoning_effort": "string|null",
        "response_format": "object",
        "safety_identifier": "string|null",
        "seed": "integer|null",
        "service_tier": "string|null",
        "stop": "string|array|null",
        "store": "boolean|null",
        "stream": "boolean|null",
        "stream_options": "object|null",
        "temperature": "number|null",
        "tool_choice": "string|object",
        "tools": "array",
        "top_logprobs": "integer|null",
        "top_p": "number|null",
        "user": "string|null",
        "verbosity": "string|null",
        "web_search_options": "object",
    },
)

_SAID = Fields({"content": "string|array"}, {"name": "string|null"})
MESSAGES: Mapping[str, Fields] = {
    "system": _SAID,
    "developer": _SAID,
    "user": _SAID,
    "assistant": Fields(
        {},
        {
            "annotations": "any",
            "audio": "object|null",
            "content": "string|array|null",
            "function_call": "any",
            "name": "string|null",
            "refusal": "string|null",
            "tool_calls": "array|null",
        },
    ),
    "tool": Fields({"content": "string|array", "tool_call_id": "string"}, {"name": "string|null"}),
    "function": Fields({"content": "string|null", "name": "string"}),
}
"""The fields of a message, by its role and without it."""

TEXT_PART = Fields({"text": "string"}, {"prompt_cache_breakpoint": "any"})
USER_PARTS: Mapping[str, Fields] = {
    "text": TEXT_PART,
    "image_url": Fields({"image_url": "object"}, {"prompt_cache_breakpoint": "any"}),
    "input_audio": Fields({"input_audio": "object"}, {"prompt_cache_breakpoint": "any"}),
    "file": Fields({"file": "object"}, {"prompt_cache_breakpoint": "any"}),
}
DOCUMENT_PARTS: Mapping[str, Fields] = {
    **{name: fields for name, fields in USER_PARTS.items() if name != "file"},
    "document_url": Fields({"document_url": "string"}, {"document_name": "string|null"}),
}
"""What Mistral has in their place."""
ASSISTANT_PARTS: Mapping[str, Fields] = {
    "text": TEXT_PART,
    "refusal": Fields({"refusal": "string"}),
}
TEXT_PARTS: Mapping[str, Fields] = {"text": TEXT_PART}
THINKING_PARTS: Mapping[str, Fields] = {
    "thinking": Fields({"thinking": "array"}, {"closed": "any"})
}
"""What Mistral has besides."""
IMAGE_URL = Fields({"url": "string"}, {"detail": "string"})

TOOL_CALL = Fields({"id": "string", "type": "string", "function": "object"})
CUSTOM_CALL = Fields({"id": "string", "type": "string", "custom": "object"})
CALLED = Fields({"name": "string", "arguments": "string"})
TOOL = Fields({"type": "string", "function": "object"})
CUSTOM_TOOL = Fields({"type": "string", "custom": "object"})
FUNCTION = Fields(
    {"name": "string"},
    {"description": "string", "parameters": "object", "strict": "boolean|null"},
)
STREAM_OPTIONS = Fields({}, {"include_usage": "boolean", "include_obfuscation": "boolean"})
FORMATS: Mapping[str, Fields] = {
    "text": Fields(),
    "json_object": Fields(),
    "json_schema": Fields({"json_schema": "object"}),
}
JSON_SCHEMA = Fields(
    {"name": "string"},
    {"description": "string", "schema": "object", "strict": "boolean|null"},
)
