"""The fields of each object of a request, and of which types they are."""

from __future__ import annotations

from collections.abc import Mapping

from ..serving.fields import Fields

BODY = Fields(
    {"model": "string"},
    {
        "access_programs": "any",
        "background": "boolean|null",
        "background_options": "any",
        "context_management": "array|object|null",
        "conversation": "string|object|null",
        "image": "any",
        "include": "array|null",
        "input": "string|array",
        "instructions": "string|null",
        "max_output_tokens": "integer|null",
        "max_tool_calls": "integer|null",
        "metadata": "object|null",
        "moderation": "any",
        "parallel_tool_calls": "boolean|null",
        "previous_response_id": "string|null",
        "prompt": "object|null",
        "prompt_cache_key": "string|null",
        "prompt_cache_options": "any",
        "prompt_cache_retention": "string|null",
        "reasoning": "object|null",
        "safety_identifier": "string|null",
        "service_tier": "string|null",
        "store": "boolean|null",
        "stream": "boolean|null",
        "stream_options": "object|null",
        "temperature": "number|null",
        "text": "object|null",
        "tool_choice": "string|object",
        "tools": "array",
        "top_logprobs": "integer|null",
        "top_p": "number|null",
        "truncation": "string|null",
        "user": "string|null",
    },
)
REASONING = Fields(
    {},
    {
        "context": "any",
        "effort": "string|null",
        "generate_summary": "string|null",
        "mode": "any",
        "summary": "string|null",
    },
)
TEXT = Fields({}, {"format": "object", "verbosity": "string|null"})
FORMATS: Mapping[str, Fields] = {
    "text": Fields(),
    "json_object": Fields(),
    "json_schema": Fields(
        {"name": "string", "schema": "object"},
        {"description": "string|null", "strict": "boolean|null"},
    ),
}
STREAM_OPTIONS = Fields({}, {"include_obfuscation": "boolean"})

_ITEM = {"id": "string|null", "status": "string|null"}
_CALL = {**_ITEM, "async": "any", "caller": "object|null", "namespace": "string|null"}
_ANY: Fields | None = None

ITEMS: Mapping[str, Fields | None] = {
    "message": Fields(
        {"role": "string", "content": "string|array"}, {**_ITEM, "phase": "string|null"}
    ),
    "function_call": Fields({"call_id": "string", "name": "string", "arguments": "string"}, _CALL),
    "function_call_output": Fields(
        {"call_id": "string", "output": "string|array"}, {**_CALL, "name": "string|null"}
    ),
    "reasoning": Fields(
        {"id": "string", "summary": "array"},
        {"content": "array|null", "encrypted_content": "string|null", "status": "string|null"},
    ),
    "custom_tool_call": Fields({"call_id": "string", "name": "string", "input": "string"}, _CALL),
    "custom_tool_call_output": Fields({"call_id": "string", "output": "string|array"}, _CALL),
    "item_reference": Fields({"id": "string"}),
    "web_search_call": Fields({"id": "string"}, {"status": "string", "action": "object"}),
    "file_search_call": Fields(
        {"id": "string", "queries": "array"}, {"status": "string", "results": "array|null"}
    ),
    "code_interpreter_call": Fields(
        {"id": "string", "container_id": "string"},
        {"status": "string", "code": "string|null", "outputs": "array|null"},
    ),
    "additional_tools": _ANY,
    "apply_patch_call": _ANY,
    "apply_patch_call_output": _ANY,
    "compaction": _ANY,
    "compaction_trigger": _ANY,
    "computer_call": _ANY,
    "computer_call_output": _ANY,
    "configuration_update": _ANY,
    "image_generation_call": _ANY,
    "local_shell_call": _ANY,
    "local_shell_call_output": _ANY,
    "mcp_approval_request": _ANY,
    "mcp_approval_response": _ANY,
    "mcp_call": _ANY,
    "mcp_list_tools": _ANY,
    "program": _ANY,
    "program_output": _ANY,
    "shell_call": _ANY,
    "shell_call_output": _ANY,
    "tool_search_call": _ANY,
    "tool_search_output": _ANY,
}
"""The items of the input; of some only the type is judged."""

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

_BREAK = {"prompt_cache_breakpoint": "any"}
_DETAIL = {"detail": "string|null"}
INPUT_PARTS: Mapping[str, Fields] = {
    "input_text": Fields({"text": "string"}, _BREAK),
    "input_image": Fields(
        {}, {**_BREAK, **_DETAIL, "image_url": "string|null", "file_id": "string|null"}
    ),
    "input_file": Fields(
        {},
        {
            **_BREAK,
            **_DETAIL,
            "file_data": "string|null",
            "file_id": "string|null",
            "file_url": "string|null",
            "filename": "string|null",
        },
    ),
}
OUTPUT_PARTS: Mapping[str, Fields] = {
    "output_text": Fields({"text": "string"}, {"annotations": "array", "logprobs": "array|null"}),
    "refusal": Fields({"refusal": "string"}),
}

_CALLERS = {"allowed_callers": "array|null"}
TOOLS: Mapping[str, Fields | None] = {
    "function": Fields(
        {"name": "string", "parameters": "object|null"},
        {
            **_CALLERS,
            "async": "any",
            "defer_loading": "boolean",
            "description": "string|null",
            "output_schema": "object|null",
            "strict": "boolean|null",
        },
    ),
    "custom": Fields(
        {"name": "string"},
        {
            **_CALLERS,
            "async": "any",
            "defer_loading": "boolean",
            "description": "string",
            "format": "object",
        },
    ),
    "file_search": Fields(
        {"vector_store_ids": "array"},
        {"filters": "object|null", "max_num_results": "integer", "ranking_options": "object"},
    ),
    "code_interpreter": Fields({"container": "string|object"}, _CALLERS),
    **{
        name: Fields(
            {},
            {
                "external_web_access": "boolean|null",
                "filters": "object|null",
                "search_content_types": "array",
                "search_context_size": "string",
                "user_location": "object|null",
            },
        )
        for name in (
            "web_search",
            "web_search_2025_08_26",
            "web_search_preview",
            "web_search_preview_2025_03_11",
        )
    },
    **dict.fromkeys(
        (
            "apply_patch",
            "computer",
            "computer_use_preview",
            "image_generation",
            "local_shell",
            "mcp",
            "namespace",
            "programmatic_tool_calling",
            "shell",
            "tool_search",
        )
    ),
}
"""The tools; of some only the type is judged."""

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
