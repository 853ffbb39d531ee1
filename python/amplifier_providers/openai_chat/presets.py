"""What servers of Chat Completions have of their own, by the name of the service."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

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

PRESETS = MappingProxyType(
    {
        preset.name: preset
        for preset in (
            Preset(
                "openrouter",
                "OpenRouter",
                "https://openrouter.ai/api/v1",
                "OPENROUTER_API_KEY",
                thinking="reasoning",
                replay="reasoning_details",
                shown_thinking="reasoning",
                documents="file",
            ),
            Preset(
                "groq",
                "Groq",
                "https://api.groq.com/openai/v1",
                "GROQ_API_KEY",
                shown_thinking="reasoning",
                limit_key="max_completion_tokens",
                output="none",
            ),
            Preset(
                "mistral",
                "Mistral",
                "https://api.mistral.ai/v1",
                "MISTRAL_API_KEY",
                ("mistral", "ministral", "magistral", "codestral", "devstral", "pixtral"),
                thinking="none",
                replay="content",
                shown_thinking="content",
                include_usage=False,
                short_ids=True,
                user_after_result=False,
                any_choice="any",
                documents="document_url",
            ),
            Preset(
                "deepseek",
                "DeepSeek",
                "https://api.deepseek.com",
                "DEEPSEEK_API_KEY",
                ("deepseek",),
                thinking="thinking",
                replay="reasoning_content",
                output="json_object",
                vision=False,
            ),
            Preset(
                "together",
                "Together AI",
                "https://api.together.xyz/v1",
                "TOGETHER_API_KEY",
                shown_thinking="reasoning",
            ),
            Preset(
                "fireworks",
                "Fireworks AI",
                "https://api.fireworks.ai/inference/v1",
                "FIREWORKS_API_KEY",
            ),
            Preset(
                "xai",
                "xAI",
                "https://api.x.ai/v1",
                "XAI_API_KEY",
                ("grok",),
                limit_key="max_completion_tokens",
            ),
            Preset(
                "huggingface",
                "Hugging Face",
                "https://router.huggingface.co/v1",
                "HF_TOKEN",
            ),
            Preset(
                "vllm",
                "vLLM",
                "http://localhost:8000/v1",
                user_after_result=False,
                context_window=_LOCAL,
            ),
            Preset(
                "lm-studio",
                "LM Studio",
                "http://localhost:1234/v1",
                user_after_result=False,
                named_choice=False,
                empty_content="",
                context_window=_LOCAL,
            ),
            Preset(
                "llama-cpp",
                "llama.cpp",
                "http://localhost:8080/v1",
                user_after_result=False,
                named_choice=False,
                context_window=_LOCAL,
            ),
            Preset(
                "huggingface-tgi",
                "Text Generation Inference",
                "http://localhost:8080/v1",
                user_after_result=False,
                output="none",
                context_window=_LOCAL,
            ),
        )
    }
)
"""The known services, by their names."""

OTHER = Preset("openai-chat", "Chat Completions")
"""A server that is none of them."""
