"""The error of a request that is too long for its model and cannot be made shorter."""

from __future__ import annotations

from amplifier_core.llm_errors import ContextLengthError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_providers.requests.token_estimate import CHARACTERS_PER_TOKEN, estimate_tokens

_NAMES = {
    "system": "the system prompt",
    "developer": "the system prompt",
    "user": "a message of the user",
    "assistant": "an answer of the model",
    "tool": "the result of a tool",
    "function": "the result of a tool",
}


def cannot_be_shorter(request: ChatRequest, refusal: ContextLengthError) -> ContextLengthError:
    """Return the error, which names the longest part of the request.

    Args:
        request: The shortest request that was refused.
        refusal: What the provider raised.
    """
    tools = sum(len(tool.model_dump_json()) for tool in request.tools or ())
    parts = [(_name(message), _tokens(message)) for message in request.messages]
    parts.append(("the descriptions of the tools", tools // CHARACTERS_PER_TOKEN))
    name, longest = max(parts, key=lambda part: part[1])
    total = sum(tokens for _, tokens in parts)
    message = (
        f"the request is too long for the model and cannot be made shorter: about {total:,} tokens,"
        f" {longest:,} of them in {name}; the provider said: {refusal}"
    )
    return ContextLengthError(
        message,
        provider=refusal.provider,
        model=refusal.model,
        status_code=refusal.status_code,
        hint=f"shorten {name}, or use a model with a larger context window",
    )


def _tokens(message: Message) -> int:
    return estimate_tokens(message.model_dump(mode="python"))


def _name(message: Message) -> str:
    tool = f" `{message.name}`" if message.role == "tool" and message.name else ""
    return _NAMES.get(message.role, f"a message of `{message.role}`") + tool
