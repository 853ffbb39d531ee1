"""What the kit asks, what the service answers, and how an answer is kept in a history."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from amplifier_core.message_models import ChatRequest, ChatResponse, Message, ToolSpec
from amplifier_providers.answers.response_facts import tool_calls_of

from ..servers import Answer, Call, Text, Thinking

_AT = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
LOOK = ToolSpec(name="look", description="Looks at a file.", parameters=_AT)
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABXvMqOgAAAABJRU5ErkJg"
    "gg=="
)
IMAGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
}
TALE = "Once upon a time there was a stream. "
ONE_CALL = Answer(Call("look", {"at": "é"}, id="call1a2b3"))
"""The shortest answer of which no part may get lost; its call has an id that every service takes."""
MIXED = Answer(
    Thinking("I need the file."),
    "Let me look at it. é😀",
    Call("look", {"at": "é/a.py"}, id="call1a2b3"),
    fragment=5,
)
"""An answer of each kind of part; it ends with a call."""


def make_user(content: Any) -> dict[str, Any]:
    """Return a message of the user."""
    return {"role": "user", "content": content}


def make_result(call_id: str, content: Any) -> dict[str, Any]:
    """Return a message with the result of a call."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def make_system(content: str) -> dict[str, Any]:
    """Return a message of the system."""
    return {"role": "system", "content": content}


def text_block(text: str) -> dict[str, Any]:
    """Return a block of text."""
    return {"type": "text", "text": text}


def call_block(call_id: str, name: str) -> dict[str, Any]:
    """Return a block with a call."""
    return {"type": "tool_call", "id": call_id, "name": name, "input": {"at": "a"}}


def make_foreign(content: Any) -> dict[str, Any]:
    """Return a message that another provider wrote."""
    about = {"provider": "another", "model": "another-model"}
    return {"role": "assistant", "content": content, "metadata": about}


def make_assistant(response: ChatResponse) -> dict[str, Any]:
    """Return the message that keeps an answer, as the loops store it."""
    calls = tool_calls_of(response)
    message: dict[str, Any] = {
        "role": "assistant",
        "content": [_block(block) for block in response.content],
        "metadata": {
            key: value
            for key, value in (response.metadata or {}).items()
            if key != "content_blocks_emitted"
        },
    }
    if calls:
        message["tool_calls"] = [
            {"id": call.id, "tool": call.name, "arguments": call.arguments} for call in calls
        ]
    return message


def request(messages: Iterable[dict[str, Any]], tools: Iterable[ToolSpec] = (LOOK,)) -> ChatRequest:
    """Return a request with a history."""
    return ChatRequest(
        messages=[Message.model_validate(message) for message in messages], tools=list(tools)
    )


def make_question(text: str = "What is in the file?") -> ChatRequest:
    """Return a request of one message."""
    return request([make_user(text)])


def essence_of(response: ChatResponse) -> list[tuple[Any, ...]]:
    """Return what must not get lost of an answer, in its order: texts, thoughts and calls."""
    found: list[tuple[Any, ...]] = []
    for block in response.content:
        match block.type:
            case "text":
                found.append(("text", getattr(block, "text", None)))
            case "thinking":
                found.append(("thinking", getattr(block, "thinking", None)))
            case "tool_call":
                found.append(("call", getattr(block, "name", None), getattr(block, "input", None)))
            case other:
                found.append((other,))
    calls = [("run", call.name, call.arguments) for call in response.tool_calls or []]
    return [*found, *calls, ("finish", response.finish_reason)]


def text_of(response: ChatResponse) -> str:
    """Return the texts of an answer, joined."""
    return "".join(kind[1] or "" for kind in essence_of(response) if kind[0] == "text")


def thoughts_of(response: ChatResponse) -> str:
    """Return the thoughts of an answer, joined."""
    return "".join(kind[1] or "" for kind in essence_of(response) if kind[0] == "thinking")


def scripted_text(answer: Answer) -> str:
    """Return the texts of a script, joined."""
    return "".join(part.text for part in answer.parts if isinstance(part, Text))


def scripted_calls(answer: Answer) -> list[tuple[str, Any]]:
    """Return the calls of a script, each with its arguments."""
    return [(call.name, call.arguments) for call in answer.calls]


def _block(block: BaseModel) -> dict[str, Any]:
    declared = type(block).model_fields
    return {
        key: value
        for key, value in block.model_dump().items()
        if value is not None or key not in declared
    }
