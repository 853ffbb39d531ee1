"""The fields of each object of a request, and of which types they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ..serving.fields import Fields, Path, Problem, find_problem
from ..serving.reading import Json, mapping
from .refusals import invalid

_CACHE = {"cache_control": "object|null"}
_CALLER = {"caller": "object|null"}
_TOOL = {
    **_CACHE,
    "type": "string|null",
    "allowed_callers": "array",
    "defer_loading": "boolean",
    "strict": "boolean",
}

BODY = Fields(
    {"model": "string", "messages": "array", "max_tokens": "integer"},
    {
        "cache_control": "object|null",
        "container": "string|object|null",
        "diagnostics": "object|null",
        "inference_geo": "string|null",
        "metadata": "object",
        "output_config": "object",
        "service_tier": "string",
        "speed": "string|null",
        "stop_sequences": "array",
        "stream": "boolean",
        "system": "string|array",
        "temperature": "number",
        "thinking": "object",
        "tool_choice": "object",
        "tools": "array",
        "top_k": "integer",
        "top_p": "number",
        "user_profile_id": "string|null",
        "workspace_id": "string|null",
    },
)
BETA_BODY = Fields(
    BODY.required,
    {
        **BODY.optional,
        "billing_policy": "any",
        "compaction": "any",
        "context_management": "object|null",
        "fallback_credit_token": "any",
        "fallbacks": "any",
        "mcp_servers": "array",
        "output_format": "object|null",
        "thread": "any",
    },
)
"""With the header `anthropic-beta`."""

MESSAGE = Fields({"role": "string", "content": "string|array"})
TEXT = Fields({"text": "string"}, {"type": "string", **_CACHE, "citations": "array|null"})

_RESULT = Fields({"tool_use_id": "string", "content": "array|object"}, {**_CACHE, **_CALLER})
_USE = {"id": "string", "name": "string", "input": "object"}
_IMAGE = Fields({"source": "object"}, {**_CACHE, "transformations": "any"})
_SEARCH_RESULT = Fields(
    {"source": "string", "title": "string", "content": "array"}, {**_CACHE, "citations": "object"}
)
_DOCUMENT = Fields(
    {"source": "object"},
    {**_CACHE, "citations": "object|null", "context": "string|null", "title": "string|null"},
)

BLOCKS: Mapping[str, Fields] = {
    "text": TEXT,
    "image": _IMAGE,
    "document": _DOCUMENT,
    "search_result": _SEARCH_RESULT,
    "thinking": Fields({"signature": "string", "thinking": "string"}),
    "redacted_thinking": Fields({"data": "string"}),
    "tool_use": Fields(_USE, {**_CACHE, **_CALLER, "toolset_name": "string|null"}),
    "tool_result": Fields(
        {"tool_use_id": "string"},
        {
            **_CACHE,
            "content": "string|array",
            "is_error": "boolean",
            "toolset_name": "string|null",
        },
    ),
    "server_tool_use": Fields(_USE, {**_CACHE, **_CALLER}),
    "web_search_tool_result": _RESULT,
    "web_fetch_tool_result": _RESULT,
    "code_execution_tool_result": _RESULT,
    "bash_code_execution_tool_result": _RESULT,
    "text_editor_code_execution_tool_result": _RESULT,
    "tool_search_tool_result": _RESULT,
    "container_upload": Fields({"file_id": "string"}, _CACHE),
}
"""Content blocks of a message."""

BETA_BLOCKS: Mapping[str, Fields] = {
    **BLOCKS,
    "mcp_tool_use": Fields({**_USE, "server_name": "string"}, _CACHE),
    "mcp_tool_result": Fields(
        {"tool_use_id": "string"},
        {**_CACHE, "is_error": "boolean", "content": "string|array"},
    ),
    "compaction": Fields({}, {**_CACHE, "content": "any", "encrypted_content": "any"}),
    "advisor_tool_result": _RESULT,
    "fallback": Fields({}, {"from": "any", "to": "any"}),
}

RESULT_BLOCKS: Mapping[str, Fields] = {
    "text": TEXT,
    "image": _IMAGE,
    "search_result": _SEARCH_RESULT,
    "document": _DOCUMENT,
    "tool_reference": Fields({"tool_name": "string"}, _CACHE),
}
"""Blocks of the content of a tool result."""

CUSTOM_TOOL = Fields(
    {"name": "string", "input_schema": "object"},
    {
        **_TOOL,
        "description": "string",
        "eager_input_streaming": "boolean|null",
        "input_examples": "array",
    },
)
_SEARCH_TOOL = {
    **_TOOL,
    "allowed_domains": "array|null",
    "blocked_domains": "array|null",
    "max_uses": "integer|null",
    "response_inclusion": "any",
}
_EXAMPLES = {**_TOOL, "input_examples": "array"}

SERVER_TOOLS: Mapping[str, Fields] = {
    "bash_": Fields({"name": "string"}, _EXAMPLES),
    "browser_toolset_": Fields({}, {"type": "string", **_CACHE, "configs": "object"}),
    "code_execution_": Fields({"name": "string"}, _TOOL),
    "computer_toolset_": Fields({}, {"type": "string", **_CACHE, "configs": "object"}),
    "memory_": Fields({"name": "string"}, _EXAMPLES),
    "text_editor_": Fields({"name": "string"}, {**_EXAMPLES, "max_characters": "integer|null"}),
    "tool_search_tool_bm25": Fields({"name": "string"}, _TOOL),
    "tool_search_tool_regex": Fields({"name": "string"}, _TOOL),
    "web_fetch_": Fields(
        {"name": "string"},
        {
            **_SEARCH_TOOL,
            "citations": "object|null",
            "max_content_tokens": "integer|null",
            "url_sources": "object|null",
            "use_cache": "boolean",
        },
    ),
    "web_search_": Fields({"name": "string"}, {**_SEARCH_TOOL, "user_location": "object|null"}),
}
"""Tools of Anthropic, by the beginning of their type; a date follows."""

SERVER_TOOL_NAMES = {
    "bash_": "bash",
    "code_execution_": "code_execution",
    "memory_": "memory",
    "tool_search_tool_bm25": "tool_search_tool_bm25",
    "tool_search_tool_regex": "tool_search_tool_regex",
    "web_fetch_": "web_fetch",
    "web_search_": "web_search",
}
"""The one name that a tool of Anthropic may have."""

THINKING: Mapping[str, Fields] = {
    "enabled": Fields({"budget_tokens": "integer"}, {"display": "string|null"}),
    "adaptive": Fields({}, {"display": "string|null"}),
    "between_tools": Fields(),
    "disabled": Fields(),
}
TOOL_CHOICE: Mapping[str, Fields] = {
    "auto": Fields({}, {"disable_parallel_tool_use": "boolean"}),
    "any": Fields({}, {"disable_parallel_tool_use": "boolean"}),
    "tool": Fields({"name": "string"}, {"disable_parallel_tool_use": "boolean"}),
    "none": Fields(),
}
CACHE_CONTROL = Fields({"type": "string"}, {"ttl": "string"})
METADATA = Fields({}, {"user_id": "string|null"})
OUTPUT_CONFIG = Fields({}, {"effort": "string|null", "format": "object|null", "task_budget": "any"})
OUTPUT_FORMAT: Mapping[str, Fields] = {"json_schema": Fields({"schema": "object"})}

IMAGE_SOURCES: Mapping[str, Fields] = {
    "base64": Fields({"data": "string", "media_type": "string"}),
    "url": Fields({"url": "string"}),
    "file": Fields({"file_id": "string"}),
}
DOCUMENT_SOURCES: Mapping[str, Fields] = {
    **IMAGE_SOURCES,
    "text": Fields({"data": "string", "media_type": "string"}),
    "content": Fields({"content": "string|array"}),
}

_EXPECTED = {
    "string": "Input should be a valid string",
    "integer": "Input should be a valid integer",
    "number": "Input should be a valid number",
    "boolean": "Input should be a valid boolean",
    "array": "Input should be a valid list",
    "object": "Input should be a valid dictionary",
}


def as_object(value: object, path: Path) -> Json:
    """Return `value`, or refuse it if it is not an object."""
    if not isinstance(value, dict):
        raise invalid(_EXPECTED["object"], path)
    return mapping(cast("object", value))


def check_fields(value: Mapping[str, Any], fields: Fields, path: Path) -> None:
    """Refuse an object with a field that is missing, unknown or of another type."""
    problem = find_problem(value, fields, path)
    if problem is not None:
        raise invalid(_say(problem), problem.path)


def check_tagged(
    value: Mapping[str, Any], kinds: Mapping[str, Fields], path: Path, *, deeper: bool = True
) -> str:
    """Check an object whose `type` says which fields it has, and return that type.

    Args:
        value: The object.
        kinds: The fields of each type.
        path: Where the object is.
        deeper: Whether the type is part of the path of what is wrong inside.
    """
    kind = value.get("type")
    if "type" not in value:
        raise invalid("Field required", (*path, "type"))
    if not isinstance(kind, str) or kind not in kinds:
        names = ", ".join(f"'{name}'" for name in sorted(kinds))
        raise invalid(
            f"Input tag '{kind}' found using 'type' does not match any of the expected tags:"
            f" {names}",
            path,
        )
    fields = kinds[kind]
    inner = {name: value[name] for name in value if name != "type"}
    check_fields(inner, fields, (*path, kind) if deeper else path)
    return kind


def _say(problem: Problem) -> str:
    match problem.what:
        case "missing":
            return "Field required"
        case "unknown":
            return "Extra inputs are not permitted"
        case "type":
            return _EXPECTED.get(problem.expected.split("|")[0], "Input is of the wrong type")
