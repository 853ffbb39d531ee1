"""Writes the tables of fields of the strict servers from the types of the official SDKs.

    .venv/bin/python tests/modules/testing_servers/write_sdk_fields.py

The tables are `sdk_fields.json` in the folder of each dialect: `objects` by their names, and groups
of objects whose `type` (of messages their `role`) says which fields they have beside it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import anthropic.types as anthropic_types
import anthropic.types.beta as beta_types
import ollama._types as ollama_types
import openai.types.chat as chat_types
import openai.types.responses as responses_types
from openai.types.shared_params import ResponseFormatJSONSchema
from sdk_types import FieldTable, member_type, read_fields, read_tagged

SERVERS = Path(__file__).parents[3] / "python/amplifier_testing/servers"
COMMAND = ".venv/bin/python tests/modules/testing_servers/write_sdk_fields.py"

Tables = tuple[Mapping[str, FieldTable], Mapping[str, Mapping[str, FieldTable]]]
"""The objects and the kinds of a dialect."""


def read_anthropic() -> Tables:
    """Read the types of Anthropic Messages."""
    plain, beta = anthropic_types.message_create_params, beta_types.message_create_params
    tools = member_type(plain.MessageCreateParamsBase, "tools")
    beta_tools = member_type(beta.MessageCreateParamsBase, "tools")
    return {
        "body": read_fields(plain.MessageCreateParamsStreaming, plain.MessageCreateParamsNonStreaming),
        "beta_body": read_fields(
            beta.MessageCreateParamsStreaming,
            beta.MessageCreateParamsNonStreaming,
            without=("betas",),  # is sent as a header
        ),
        "message": read_fields(anthropic_types.MessageParam),
        "custom_tool": read_fields(anthropic_types.ToolParam),
        "cache_control": read_fields(anthropic_types.CacheControlEphemeralParam),
        "metadata": read_fields(anthropic_types.MetadataParam),
        "output_config": read_fields(beta_types.BetaOutputConfigParam),
    }, {
        "blocks": read_tagged(anthropic_types.ContentBlockParam),
        "beta_blocks": read_tagged(beta_types.BetaContentBlockParam),
        "result_blocks": read_tagged(member_type(anthropic_types.ToolResultBlockParam, "content")),
        "tools": read_tagged(tools, is_dated=True),
        "beta_tools": read_tagged(beta_tools, is_dated=True),
        "thinking": read_tagged(anthropic_types.ThinkingConfigParam),
        "tool_choice": read_tagged(anthropic_types.ToolChoiceParam),
        "output_format": read_tagged(member_type(anthropic_types.OutputConfigParam, "format")),
        "image_sources": read_tagged(member_type(anthropic_types.ImageBlockParam, "source")),
        "document_sources": read_tagged(
            member_type(anthropic_types.DocumentBlockParam, "source")
        ),
    }  # fmt: skip


def read_chat() -> Tables:
    """Read the types of Chat Completions."""
    params = chat_types.completion_create_params
    call = chat_types.ChatCompletionMessageFunctionToolCallParam
    assistant = chat_types.ChatCompletionAssistantMessageParam
    return {
        "body": read_fields(params.CompletionCreateParamsStreaming, params.CompletionCreateParamsNonStreaming),
        "image_url": read_fields(member_type(chat_types.ChatCompletionContentPartImageParam, "image_url")),
        "tool_call": read_fields(call),
        "custom_call": read_fields(chat_types.ChatCompletionMessageCustomToolCallParam),
        "call_function": read_fields(member_type(call, "function")),
        "tool": read_fields(chat_types.ChatCompletionFunctionToolParam),
        "custom_tool": read_fields(chat_types.ChatCompletionCustomToolParam),
        "function": read_fields(member_type(chat_types.ChatCompletionFunctionToolParam, "function")),
        "stream_options": read_fields(chat_types.ChatCompletionStreamOptionsParam),
        "json_schema": read_fields(member_type(ResponseFormatJSONSchema, "json_schema")),
    }, {
        "messages": read_tagged(chat_types.ChatCompletionMessageParam, tag="role"),
        "user_parts": read_tagged(chat_types.ChatCompletionContentPartParam),
        "assistant_parts": read_tagged(member_type(assistant, "content")),
        "formats": read_tagged(member_type(params.CompletionCreateParamsBase, "response_format")),
    }  # fmt: skip


def read_responses() -> Tables:
    """Read the types of Responses."""
    params = responses_types.response_create_params
    base = params.ResponseCreateParamsBase
    return {
        "body": read_fields(params.ResponseCreateParamsStreaming, params.ResponseCreateParamsNonStreaming),
        "reasoning": read_fields(member_type(base, "reasoning")),
        "text": read_fields(responses_types.ResponseTextConfigParam),
        "stream_options": read_fields(member_type(base, "stream_options")),
    }, {
        "formats": read_tagged(responses_types.ResponseFormatTextConfigParam),
        "items": read_tagged(member_type(base, "input")),
        "input_parts": read_tagged(member_type(responses_types.EasyInputMessageParam, "content")),
        "output_parts": read_tagged(member_type(responses_types.ResponseOutputMessageParam, "content")),
        "tools": read_tagged(member_type(base, "tools")),
    }  # fmt: skip


def read_ollama() -> Tables:
    """Read the types of Ollama."""
    call = ollama_types.Message.ToolCall
    return {
        "chat": read_fields(ollama_types.ChatRequest),
        "generate": read_fields(ollama_types.GenerateRequest),
        "message": read_fields(ollama_types.Message),
        "call": read_fields(call),
        "call_function": read_fields(call.Function),
        "tool": read_fields(ollama_types.Tool),
        "function": read_fields(ollama_types.Tool.Function),
        "options": read_fields(ollama_types.Options),
    }, {}


DIALECTS = {
    "anthropic": read_anthropic,
    "chat": read_chat,
    "ollama": read_ollama,
    "responses": read_responses,
}


def write_tables(dialect: str) -> str:
    """Return the file of a dialect, as the installed SDK has it: a line for each object."""
    objects, kinds = DIALECTS[dialect]()
    groups = {"objects": _write_group(objects)} | {
        name: _write_group(members) for name, members in sorted(kinds.items())
    }
    return (
        "{"
        + ",".join(f"\n {json.dumps(name)}: {group}" for name, group in groups.items())
        + "\n}\n"
    )


def _write_group(tables: Mapping[str, FieldTable]) -> str:
    lines = (
        f"\n  {json.dumps(name)}: "
        + json.dumps({"required": {**fields.required}, "optional": {**fields.optional}})
        for name, fields in sorted(tables.items())
    )
    return "{" + ",".join(lines) + "\n }"


if __name__ == "__main__":
    for dialect in DIALECTS:
        (SERVERS / dialect / "sdk_fields.json").write_text(write_tables(dialect))
