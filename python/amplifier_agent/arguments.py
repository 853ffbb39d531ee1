"""The arguments of sessions and turns, checked where they are given."""

from __future__ import annotations

import binascii
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from amplifier_modules.spending.budget import Budget

if TYPE_CHECKING:
    from amplifier_core.message_models import ImageBlock, TextBlock, UnknownBlock

Prompt: TypeAlias = "str | Sequence[TextBlock | ImageBlock | UnknownBlock | Mapping[str, Any]]"
"""What the user says: text, or blocks of it, of images and of documents."""

_ALLOWED = ("text", "image", "document")


def check_turn(prompt: Any, budget: Any) -> None:
    """Check what a turn is given.

    Raises:
        TypeError: One of them is of the wrong type.
        ValueError: A block of the prompt cannot be sent to a model.
    """
    if not isinstance(prompt, str):
        read_blocks(prompt)
    check_budget(budget)


def check_budget(budget: Any) -> None:
    """Check a budget.

    Raises:
        TypeError: It is neither a `Budget` nor None.
    """
    if budget is not None and not isinstance(budget, Budget):
        raise TypeError(f"`budget` is a `{type(budget).__name__}` (must be a `Budget`)")


def check_goal(goal: Any) -> None:
    """Check a goal.

    Raises:
        TypeError: It is neither text nor None.
        ValueError: It is empty.
    """
    if goal is not None and not isinstance(goal, str):
        raise TypeError(f"`goal` is a `{type(goal).__name__}` (must be text)")
    if goal is not None and not goal.strip():
        raise ValueError("`goal` is empty (must say when the work is done, or be None)")


def check_messages(messages: Any) -> None:
    """Check a conversation.

    Raises:
        TypeError: It is no list of mappings.
        InvalidMessageError: A message cannot be sent to a model; a `ValueError`.
    """
    if not messages and type(messages) in {tuple, list}:
        return
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
        found = type(messages).__name__  # pyright: ignore[reportUnknownArgumentType] -- of any kind
        raise TypeError(f"`messages` is a `{found}` (must be a list)")
    for position, message in enumerate(messages):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] -- the same
        if not isinstance(message, Mapping):
            found = type(message).__name__  # pyright: ignore[reportUnknownArgumentType] -- the same
            raise TypeError(f"message {position} is a `{found}` (must be a mapping)")
    from amplifier_providers.requests.foreign_form import native_messages

    native_messages(messages)  # pyright: ignore[reportUnknownArgumentType] -- mappings, as seen above


def check_session_id(session_id: Any) -> None:
    """Check the id of a session.

    Raises:
        TypeError: It is neither text nor None.
    """
    if session_id is not None and not isinstance(session_id, str):
        raise TypeError(f"`session_id` is a `{type(session_id).__name__}` (must be text)")


def read_blocks(prompt: Any) -> list[dict[str, Any]] | None:
    """Return the blocks of a prompt, checked and as plain data; None for text.

    Raises:
        TypeError: It is neither text nor a list, or a block is no block.
        ValueError: A block cannot be sent to a model, or there is none.
    """
    if isinstance(prompt, str):
        return None
    if isinstance(prompt, bytes | bytearray | Mapping) or not isinstance(prompt, Sequence):
        found = type(prompt).__name__  # pyright: ignore[reportUnknownArgumentType] -- of any kind
        raise TypeError(f"`prompt` is a `{found}` (must be text or a list of blocks)")
    blocks = [
        _read_block(block, position) for position, block in enumerate(cast("Sequence[Any]", prompt))
    ]
    if not any(block["type"] != "text" or block["text"].strip() for block in blocks):
        raise ValueError("`prompt` has no block with a text, an image or a document")
    return blocks


def _read_block(block: Any, position: int) -> dict[str, Any]:
    from pydantic import BaseModel

    if isinstance(block, BaseModel):
        block = block.model_dump(exclude_none=True)
    if not isinstance(block, Mapping):
        found = type(block).__name__
        raise TypeError(f"block {position} of `prompt` is a `{found}` (must be a mapping)")
    fields = _make_native(cast("Mapping[str, Any]", block), position)
    kind = fields.get("type")
    if kind not in _ALLOWED:
        raise ValueError(
            f"block {position} of `prompt` has the type `{kind}` (must be `text`, `image` or"
            " `document`)"
        )
    if kind == "text":
        if not isinstance(fields.get("text"), str):
            raise TypeError(f"`text` of block {position} of `prompt` must be text")
        return fields
    source = fields.get("source")
    if not isinstance(source, Mapping):
        raise TypeError(f"`source` of block {position} of `prompt` must be a mapping")
    source = dict(cast("Mapping[str, Any]", source))
    if not source.get("type"):
        raise ValueError(
            f"`source` of block {position} of `prompt` has no `type`, such as `base64` or `url`"
        )
    if source["type"] == "base64":
        _check_data(source, kind, position)
    return {**fields, "source": source}


def _make_native(block: Mapping[str, Any], position: int) -> dict[str, Any]:
    """Return a block in our form, also one of the form of other services."""
    from amplifier_providers.requests.foreign_form import InvalidMessageError, native_messages

    try:
        (message,) = native_messages([{"role": "user", "content": [block]}])
    except InvalidMessageError as error:
        raise ValueError(f"block {position} of `prompt`: {error}") from None
    return dict(message["content"][0])


def _check_data(source: Mapping[str, Any], kind: str, position: int) -> None:
    """Check what comes with the block: its form, and of an image also its size.

    Raises:
        TypeError: The form or the data is no text.
        ValueError: The data is not in base64, or too long.
    """
    from amplifier_modules.tools.filesystem.image_file import MAX_IMAGE_BYTES

    what = f"the {kind} in block {position} of `prompt`"
    for name in ("media_type", "data"):
        if not isinstance(source.get(name), str):
            raise TypeError(f"`{name}` of {what} must be text")
    data: str = source["data"]
    size = len(data) * 3 // 4 - data[-2:].count("=")
    if kind == "image" and size > MAX_IMAGE_BYTES:
        raise ValueError(
            f"{what} has {size:,} bytes; an image may have {MAX_IMAGE_BYTES:,} (make it smaller first)"
        )
    try:
        is_empty = not binascii.a2b_base64(data, strict_mode=True)
    except ValueError:
        raise ValueError(f"the data of {what} is not base64") from None
    if is_empty:
        raise ValueError(f"{what} is empty")
