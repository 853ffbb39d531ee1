"""The block of `content_block:end`: one form for all providers and loops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def block_record(block: Mapping[str, Any], raw: Any = None) -> dict[str, Any]:
    """Return a block with the keys of the content models in addition to its own.

    A thinking block has its text as `text` and `thinking`. A call has its arguments as `input` and
    `arguments`; where they cannot be used, which its `error` says, `input` is empty and `arguments`
    None.

    Args:
        block: A block as plain data; it stays as it is.
        raw: The block as the provider sent it; None to keep the `raw` of the block, if any.
    """
    record = dict(block)
    if record.get("type") == "thinking":
        text = record.get("thinking") or record.get("text") or ""
        record["text"] = record["thinking"] = text
    elif record.get("type") == "tool_call":
        given = record["arguments"] if record.get("arguments") is not None else record.get("input")
        arguments = given if not record.get("error") else None
        record["arguments"] = arguments
        record["input"] = {} if arguments is None else arguments
    if raw is not None:
        record["raw"] = raw
    return record
