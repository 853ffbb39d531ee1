"""In what vendors of the dialect differ."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Preset:
    """What one vendor asks for beyond OpenAI, or instead."""

    name: str
    any_model: bool = True
    """Take any model; else only those of a list."""
    vision: bool = True
    """Whether its models see images."""
    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further parameters and their types."""
    message_fields: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further fields of assistant messages and their types."""
    ignores_unknown: bool = False
    """Whether unknown parameters are ignored and not refused."""
    call_id: re.Pattern[str] | None = None
    """The form of the ids of calls."""
    max_call_id: int | None = None
    """How long the id of a call may be."""
    document_urls: bool = False
    """Whether documents are parts with an address, and not files."""
    user_after_tool: bool = True
    """Whether a user message may come right after the result of a tool."""
    ends_with_assistant: bool = True
    """Whether the last message may be the assistant's."""
    alternates: bool = False
    """Whether roles must alternate, with one system message, at the beginning."""
    reasoning: Literal["free", "refused", "required", "signed"] = "free"
    """What becomes of reasoning that comes back: `required` in the turn in progress."""
    reasoning_field: Literal["reasoning_content", "reasoning", "details", "parts", ""] = ""
    """Where reasoning is in answers; empty if there is none."""
    choices: tuple[str, ...] = ("none", "auto", "required")
    """The words of `tool_choice`."""
    flat_errors: bool = False
    """Whether an error is the whole body and not in `error`."""


_SAMPLING = {
    "top_k": "integer",
    "min_p": "number",
    "repetition_penalty": "number",
}
_REASONING = {"reasoning_content": "string|null"}

PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset("openai", any_model=False, max_call_id=40),
        Preset(
            "mistral",
            fields={
                "guardrails": "any",
                "prompt_mode": "string|null",
                "random_seed": "integer|null",
                "safe_prompt": "boolean",
            },
            message_fields={"prefix": "boolean"},
            call_id=re.compile(r"[a-zA-Z0-9]{9}"),
            document_urls=True,
            user_after_tool=False,
            ends_with_assistant=False,
            reasoning_field="parts",
            choices=("none", "auto", "any", "required"),
            flat_errors=True,
        ),
        Preset(
            "deepseek",
            vision=False,
            fields={"thinking": "object|null"},
            message_fields={**_REASONING, "prefix": "boolean"},
            ignores_unknown=True,
            reasoning="required",
            reasoning_field="reasoning_content",
        ),
        Preset(
            "deepseek-reasoner",
            vision=False,
            message_fields={**_REASONING, "prefix": "boolean"},
            ignores_unknown=True,
            reasoning="refused",
            reasoning_field="reasoning_content",
        ),
        Preset(
            "openrouter",
            fields={
                **_SAMPLING,
                "models": "array",
                "plugins": "array",
                "provider": "object",
                "reasoning": "object",
                "route": "string",
                "top_a": "number",
                "transforms": "array",
                "usage": "object",
            },
            message_fields={"reasoning": "string|null", "reasoning_details": "array|null"},
            reasoning="signed",
            reasoning_field="details",
        ),
        Preset(
            "template",
            fields={**_SAMPLING, "chat_template_kwargs": "object", "guided_json": "any"},
            message_fields={**_REASONING, "reasoning": "string|null"},
            ignores_unknown=True,
            alternates=True,
            reasoning_field="reasoning",
        ),
    )
}
"""The presets by name: `template` is a server whose chat template is strict, as vLLM or llama.cpp."""
