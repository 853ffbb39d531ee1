"""Messages and responses without personal data and secrets.

Opaque data goes back to its service as it came: a thought that was changed would be refused with its
signature. So an opaque entry that holds something is left out as a whole; of one that only adds to a
text of the message, what it adds. The sources of images are not looked at.
"""

from __future__ import annotations

from typing import Any

from ...exceptions import ArcLLMParseError
from ...types import (
    ContentBlock,
    LLMResponse,
    Message,
    TextBlock,
    ToolCall,
    ToolResultBlock,
    ToolUseBlock,
)
from ..tool_calls import INVALID
from .cleaning import Cleaning, each_cleaned

_SPOKEN = ("refusal", "unparsed_calls")
"""What the metadata of a response has of the model's words."""


def clean_message(message: Message, cleaning: Cleaning) -> Message:
    """Return a message without them; the same object if it has none."""
    content = _clean_content(message.content, cleaning)
    opaque = _clean_opaque(message.opaque, cleaning)
    if content is message.content and opaque is message.opaque:
        return message
    return message.model_copy(update={"content": content, "opaque": opaque})


def clean_response(response: LLMResponse, cleaning: Cleaning) -> LLMResponse:
    """Return a response without them; the same object if it has none.

    One that had some has lost its `raw`, too.
    """
    changes: dict[str, Any] = {}
    for name in ("content", "thinking"):
        text = getattr(response, name)
        if text and (without := cleaning.clean_text(text)) is not text:
            changes[name] = without
    calls = each_cleaned(response.tool_calls, lambda call: _call(call, cleaning))
    if calls is not response.tool_calls:
        changes["tool_calls"] = calls
    kept = getattr(response, "opaque", None)
    if (opaque := _clean_opaque(kept, cleaning)) is not kept:
        changes["opaque"] = opaque
    for name in _SPOKEN:
        value = response.metadata.get(name)
        if value is not None and (without := cleaning.clean_data(value)) is not value:
            metadata = changes.get("metadata", response.metadata)
            changes["metadata"] = {**metadata, name: without}
    if problems := response.metadata.get(INVALID):
        texts = list(problems.values())
        if (cleaned := each_cleaned(texts, cleaning.clean_text)) is not texts:
            metadata = changes.get("metadata", response.metadata)
            # The ids stay: they name calls of the response.
            changes["metadata"] = {**metadata, INVALID: dict(zip(problems, cleaned, strict=True))}
    return response.model_copy(update={**changes, "raw": None}) if changes else response


def clean_parse_error(error: ArcLLMParseError, cleaning: Cleaning) -> None:
    """Take them out of what a model wrote that cannot be read."""
    raw = cleaning.clean_text(error.raw_string)
    if raw is not error.raw_string:
        # The original error may quote the text.
        error.original_error = ValueError("what is not readable has been redacted")
        error.raw_string = raw
        error.args = (raw, error.original_error)
    response = getattr(error, "response", None)
    if isinstance(response, LLMResponse):
        error.response = clean_response(response, cleaning)  # pyright: ignore[reportAttributeAccessIssue] -- only of errors that have one


def _clean_content(
    content: str | list[ContentBlock], cleaning: Cleaning
) -> str | list[ContentBlock]:
    if isinstance(content, str):
        return cleaning.clean_text(content)
    return each_cleaned(content, lambda block: _block(block, cleaning))


def _block(block: ContentBlock, cleaning: Cleaning) -> ContentBlock:
    if isinstance(block, TextBlock):
        text = cleaning.clean_text(block.text)
        return block if text is block.text else block.model_copy(update={"text": text})
    if isinstance(block, ToolUseBlock):
        arguments = cleaning.clean_data(block.arguments)
        is_same = arguments is block.arguments
        return block if is_same else block.model_copy(update={"arguments": arguments})
    if isinstance(block, ToolResultBlock):
        content = _clean_content(block.content, cleaning)
        return block if content is block.content else block.model_copy(update={"content": content})
    return block


def _call(call: ToolCall, cleaning: Cleaning) -> ToolCall:
    fields = {
        "id": cleaning.clean_text(call.id),
        "name": cleaning.clean_text(call.name),
        "arguments": cleaning.clean_data(call.arguments),
    }
    is_same = all(value is getattr(call, name) for name, value in fields.items())
    return call if is_same else call.model_copy(update=fields)


def _clean_opaque(
    entries: list[dict[str, Any]] | None, cleaning: Cleaning
) -> list[dict[str, Any]] | None:
    if not entries:
        return entries
    kept: list[dict[str, Any]] = []
    for entry in entries:
        if _is_clean(entry, cleaning):
            kept.append(entry)
        elif entry.get("type") == "visible":
            kept.append({name: value for name, value in entry.items() if name != "more"})
    if len(kept) == len(entries) and all(map(_is_same, kept, entries)):
        return entries
    return kept or None


def _is_same(new: object, old: object) -> bool:
    return new is old


def _is_clean(value: Any, cleaning: Cleaning) -> bool:
    """Whether opaque data holds nothing of its kind.

    Signatures and encrypted thoughts look like secrets: only what has blanks, as texts of people
    and models have, is compared with what secrets look like.
    """
    if isinstance(value, str):
        if any(map(str.isspace, value)):
            return cleaning.clean_text(value) is value
        if cleaning.redactor is not None and cleaning.redactor.redact_known(value) != value:
            cleaning.note(("SECRET",))
            return False
        if cleaning.detector is not None and (types := cleaning.detector.types(value)):
            cleaning.note(types)
            return False
        return True
    if isinstance(value, dict):
        # All of it is looked at, so that all that was found is noted.
        return all([_is_clean(each, cleaning) for each in value.values()])  # pyright: ignore[reportUnknownVariableType] -- opaque # noqa: C419
    if isinstance(value, list):
        return all([_is_clean(each, cleaning) for each in value])  # pyright: ignore[reportUnknownVariableType] -- opaque # noqa: C419
    return True
