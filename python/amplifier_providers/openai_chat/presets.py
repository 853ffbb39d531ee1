"""What servers of Chat Completions have of their own, by the name of the service."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from ..services import CHAT_SERVICES, OPENAI_CHAT

Thinking = Literal["none", "reasoning_effort", "reasoning", "thinking"]
"""The field of a request that asks for thinking; `thinking` goes with `reasoning_effort`."""
Replay = Literal["none", "reasoning_content", "reasoning", "reasoning_details", "content"]
"""The field of a message that takes thinking back; `content` is a list with parts of thinking."""
OutputForm = Literal["json_schema", "json_object", "none"]
"""To what a server can hold the text of an answer."""


@dataclass(frozen=True)
class Preset:
    """A service, and what its requests look like where services differ."""

    name: str
    """The name of its provider."""
    title: str
    """Its name for people."""
    base_url: str = ""
    key_variable: str = ""
    """The variable of the environment with its API key; empty if it needs none."""
    families: tuple[str, ...] = ()
    """How the names of its own models begin; services that have those of others have none."""
    thinking: Thinking = "reasoning_effort"
    replay: Replay = "none"
    shown_thinking: Literal["reasoning_content", "reasoning", "content"] = "reasoning_content"
    """The field of an answer with the text of its thinking."""
    limit_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """The field of a request that limits the length of the answer."""
    system_role: Literal["system", "developer"] = "system"
    include_usage: bool = True
    """Whether usage must be asked for; others send it in any case, and may refuse the field."""
    output: OutputForm = "json_schema"
    short_ids: bool = False
    """Whether the id of a call must have 9 letters and digits."""
    user_after_result: bool = True
    """Whether a message of the user may follow the result of a tool; many chat templates refuse it."""
    any_choice: Literal["required", "any"] = "required"
    """The tool choice that means any tool, but one."""
    named_choice: bool = True
    """Whether a tool can be chosen by its name."""
    empty_content: str | None = None
    """The content of a message that holds nothing but calls."""
    documents: Literal["none", "file", "document_url"] = "none"
    """The type of the part that holds a document."""
    vision: bool = True
    context_window: int = 128_000
    """Tokens; a cautious number, as models differ."""
    max_output_tokens: int = 8_192


_LOCAL = 32_768


def _make_preset(name: str, **differences: Any) -> Preset:
    """Make the preset of a service of the table."""
    known = CHAT_SERVICES[name]
    return Preset(
        name, known.title, known.base_url, known.key_variable, known.families, **differences
    )


_PRESETS = (
    _make_preset(
        "openrouter",
        thinking="reasoning",
        replay="reasoning_details",
        shown_thinking="reasoning",
        documents="file",
    ),
    _make_preset(
        "groq",
        shown_thinking="reasoning",
        limit_key="max_completion_tokens",
        output="none",
    ),
    _make_preset(
        "mistral",
        thinking="none",
        replay="content",
        shown_thinking="content",
        include_usage=False,
        short_ids=True,
        user_after_result=False,
        any_choice="any",
        documents="document_url",
    ),
    _make_preset(
        "deepseek",
        thinking="thinking",
        replay="reasoning_content",
        output="json_object",
        vision=False,
    ),
    _make_preset("together", shown_thinking="reasoning"),
    _make_preset("fireworks"),
    _make_preset("xai", limit_key="max_completion_tokens"),
    _make_preset("huggingface"),
    _make_preset("vllm", user_after_result=False, context_window=_LOCAL),
    _make_preset(
        "lm-studio",
        user_after_result=False,
        named_choice=False,
        empty_content="",
        context_window=_LOCAL,
    ),
    _make_preset("llama-cpp", user_after_result=False, named_choice=False, context_window=_LOCAL),
    _make_preset("huggingface-tgi", user_after_result=False, output="none", context_window=_LOCAL),
)

PRESETS = MappingProxyType({preset.name: preset for preset in _PRESETS})
"""The known services, by their names."""

OTHER = Preset(OPENAI_CHAT.name, OPENAI_CHAT.title)
"""Any other server."""
