"""Blocks as a model sees them: what it cannot see becomes text that says so, or is left out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel

from ..answers.block_text import block_text
from .fields import JsonDict, blocks_of, fields_of

if TYPE_CHECKING:
    from .rules import HistoryRules

UNWRITABLE = "(The tool has answered, but its output cannot be written as JSON.)"
_UNSEEN = {"image": "image", "document": "document"}


def encoded_text(block: JsonDict) -> JsonDict | None:
    """Return a block of text with its citations; None for blank text, which services refuse.

    The text of a refusal stands in for the text that it has not.
    """
    text = next(filter(_is_said, (block.get("text"), block.get("refusal"))), None)
    if text is None:
        return None
    wire: JsonDict = {"type": "text", "text": text}
    for key in ("citations", "item", "refusal"):
        if block.get(key):
            wire[key] = block[key]
    return wire


def seen_block(
    block: JsonDict,
    rules: HistoryRules,
    known: frozenset[str],
    described: list[str],
    left_out: list[str],
) -> JsonDict | None:
    """Return a block that is neither text nor thinking nor a call.

    Args:
        block: An image, a document, a block of a type that only the service knows, or one that is
            sent as text.
        rules: What is accepted.
        known: The types that are accepted in this place.
        described: Gets the type of a block that became a text which says that it was there.
        left_out: Gets the type of a block that cannot be sent.
    """
    kind = block.get("type")
    can_send = rules.can_send(block)
    if kind in known and can_send:
        return {
            key: value for key, value in block.items() if key != "visibility" and value is not None
        }
    text = block_text(block)
    if text is None and kind in _UNSEEN and not (kind in rules.user_blocks and can_send):
        text = _describe_unseen(block, rules.model)
        described.append(str(kind))
    if text is None:
        left_out.append(str(kind))
        return None
    return encoded_text({"type": "text", "text": text})


def result_content(output: Any, rules: HistoryRules, described: list[str]) -> str | list[JsonDict]:
    """Return the output of a tool as text, or as blocks where it has several or an image.

    Args:
        output: A text, a list of blocks, or any JSON value, which is written as text.
        rules: What is accepted.
        described: Gets the types of blocks that became a text which says that they were there.

    Returns:
        The content; `UNWRITABLE` for an output without a JSON form, such as one that holds itself.
    """
    if output is None or isinstance(output, str):
        return output or ""
    blocks = blocks_of(output) if isinstance(output, list) else []
    if blocks and all(_is_content(block) for block in blocks):
        known = rules.result_blocks
        encoded = [
            encoded_text(each)
            if each["type"] == "text"
            else seen_block(each, rules, known, described, [])
            for each in blocks
        ]
        return [block for block in encoded if block is not None]
    try:
        if isinstance(output, BaseModel):
            output = output.model_dump(mode="json")
        return json.dumps(output, ensure_ascii=False, default=str)
    except (RecursionError, TypeError, ValueError):
        return UNWRITABLE


def _is_said(text: Any) -> bool:
    return isinstance(text, str) and bool(text.strip())


def _is_content(block: JsonDict) -> bool:
    return block.get("type") in {"text", "image", "document"} or block_text(block) is not None


def _describe_unseen(block: JsonDict, model: str) -> str:
    """Return the text of a document that is text, else one that says what cannot be seen."""
    source = fields_of(block.get("source"))
    text = source.get("data")
    if source.get("type") == "text" and isinstance(text, str) and text.strip():
        return text
    form = source.get("media_type")
    named = f" ({form})" if isinstance(form, str) and form.isprintable() else ""
    title = block.get("title")
    titled = f" `{title}`" if isinstance(title, str) and title.isprintable() else ""
    kind = cast("str", block["type"])
    verb = "see" if kind == "image" else "read"
    article = "An" if kind == "image" else "A"
    return f"({article} {kind}{titled}{named} was here, which `{model}` cannot {verb}.)"
