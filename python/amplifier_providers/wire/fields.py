"""Messages, blocks and calls as plain dicts, whatever their form."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel

JsonDict = dict[str, Any]


def fields_of(value: Any) -> JsonDict:
    """Return the fields of a message, block or call, whether model, dataclass or mapping.

    Only the top level is unpacked: a long history is not copied through and through.
    """
    if isinstance(value, BaseModel):
        return {**vars(value), **(value.model_extra or {})}  # as `dict(value)`, which is slow
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dict(vars(value))
    return {}


def blocks_of(content: Any) -> list[JsonDict]:
    """Return `content` as a list of block fields; plain text is one text block."""
    if content is None:
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, list | tuple):
        return [
            {"type": "text", "text": item} if isinstance(item, str) else fields_of(item)
            for item in cast("list[Any]", content)
        ]
    return [fields_of(content)]


def arguments_of(call: JsonDict) -> JsonDict:
    """Return the arguments of a tool call under any of the names in use; {} for a bad value."""
    value = call.get("input", call.get("arguments"))
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    return dict(cast("JsonDict", value)) if isinstance(value, Mapping) else {}
