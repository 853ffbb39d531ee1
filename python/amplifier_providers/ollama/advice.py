"""What helps against the errors of Ollama."""

from __future__ import annotations

import re

from amplifier_core import llm_errors
from amplifier_core.llm_errors import LLMError

_MISSING = re.compile(r"model\b.*\bnot found")


def advise(error_class: type[LLMError], text: str, model: str | None) -> str | None:
    """Return the advice on an error; None for the usual one.

    Args:
        error_class: The type of the error.
        text: What the server, or the system, says.
        model: The model that was asked.
    """
    if issubclass(error_class, llm_errors.NetworkError):
        return "is it running? `ollama serve`; its address is `OLLAMA_HOST`"
    if issubclass(error_class, llm_errors.NotFoundError) and _MISSING.search(text):
        return f"`ollama pull {model}`, or set `auto_pull` of provider-ollama"
    if "does not support tools" in text:
        return "set `tool_tags` of provider-ollama to true: the model then writes its calls as tags"
    if issubclass(error_class, llm_errors.ContextLengthError) and "context" in text:
        return "shorten the conversation, or raise `num_ctx` of provider-ollama"
    return None


def is_missing(error: LLMError) -> bool:
    """Whether the server does not have the model."""
    return isinstance(error, llm_errors.NotFoundError) and bool(_MISSING.search(str(error)))
