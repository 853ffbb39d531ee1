"""Blocks: the table between those of this package and those of the kernel.

    here                                     the kernel
    text         text                        text         text
    image        source, media_type          image        source: base64 or url
    tool_use     id, name, arguments         tool_call    id, name, input
    tool_result  tool_use_id, content        tool_result  tool_call_id, output

What a block of the kernel has besides, and blocks of other types, are opaque here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from pydantic import BaseModel, TypeAdapter, ValidationError

from amplifier_core import message_models as kernel

from ..opaque import call_mark, mark_of, text_mark
from ..types import ContentBlock, ImageBlock, TextBlock, ToolResultBlock, ToolUseBlock
from .images import image_fields, readable_image

JsonDict = dict[str, Any]

_NESTED = "block"
"""Key of a text that stands for a block which no service takes within a result: that block."""
_ANY_BLOCK: TypeAdapter[Any] = TypeAdapter(ContentBlock)


def block_mark(block: ContentBlock) -> str:
    """Return the mark of a block."""
    match block:
        case TextBlock():
            return text_mark(block.text)
        case ToolUseBlock():
            return call_mark(block.id, block.name, block.arguments)
        case _:
            return mark_of(block.type, block.model_dump())


def dump_block(block: BaseModel) -> JsonDict:
    """Return a block of the kernel as plain data, without optional fields that say nothing."""
    silent = _optional_fields(type(block))
    dumped = block.model_dump(mode="json", fallback=str)
    return {key: value for key, value in dumped.items() if value is not None or key not in silent}


@cache
def _optional_fields(kind: type[BaseModel]) -> frozenset[str]:
    fields = kind.model_fields.items()
    return frozenset(key for key, field in fields if not field.is_required())


def read_block(block: Mapping[str, Any]) -> tuple[ContentBlock, JsonDict] | None:
    """Return a block of the kernel as one of this package, and what it has besides.

    Args:
        block: The block as plain data.

    Returns:
        None for a block that this package has no type for.
    """
    rest = dict(block)
    match rest.pop("type", None):
        case "text" if isinstance(block.get("text"), str):
            return TextBlock(text=rest.pop("text")), rest
        case "tool_call":
            call = ToolUseBlock(
                id=rest.pop("id"), name=rest.pop("name"), arguments=rest.pop("input")
            )
            return call, rest
        case "tool_result":
            content, is_whole = readable_output(rest.get("output"))
            if is_whole:
                del rest["output"]
            return ToolResultBlock(tool_use_id=rest.pop("tool_call_id"), content=content), rest
        case "image":
            image = readable_image(rest.get("source"), rest.get("media_type"))
            if image is None:
                return None
            return image, {k: v for k, v in rest.items() if k not in {"source", "media_type"}}
        case _:
            return None


def readable_output(output: Any) -> tuple[str | list[ContentBlock], bool]:
    """Return what a tool gave back, and whether that is all of it.

    An output that is neither text nor blocks that can be read becomes JSON.
    """
    if isinstance(output, str):
        return output, True
    if isinstance(output, list) and output:
        found = [_read_nested(each) for each in cast("list[Any]", output)]
        if all(each is not None for each in found):
            blocks = [each[0] for each in found if each is not None]
            return blocks, not any(each[1] for each in found if each is not None)
    return json.dumps(output, ensure_ascii=False, default=str), False


def _read_nested(value: Any) -> tuple[ContentBlock, JsonDict] | None:
    block = dump_block(value) if isinstance(value, BaseModel) else value
    if not isinstance(block, dict):
        return None
    fields = cast("JsonDict", block)
    if _NESTED in fields:
        try:
            return _ANY_BLOCK.validate_python(fields[_NESTED]), {}
        except ValidationError:
            return None
    return read_block(fields) if fields.get("type") in {"text", "image"} else None


def kernel_block(block: ContentBlock, more: Mapping[str, Any]) -> kernel.ContentBlockUnion:
    """Return a block as the kernel has it.

    Args:
        block: The block.
        more: What it has besides.

    Raises:
        ArcLLMConfigError: An image has a source that no service takes.
    """
    match block:
        case TextBlock():
            fields: JsonDict = {"text": block.text}
            return kernel.TextBlock.model_validate({**more, **fields, "type": "text"})
        case ToolUseBlock():
            fields = {"id": block.id, "name": block.name, "input": block.arguments}
            return kernel.ToolCallBlock.model_validate({**more, **fields, "type": "tool_call"})
        case ToolResultBlock():
            output = more["output"] if "output" in more else kernel_output(block.content)
            fields = {"tool_call_id": block.tool_use_id, "output": output}
            return kernel.ToolResultBlock.model_validate({**more, **fields, "type": "tool_result"})
        case ImageBlock():
            fields = image_fields(block)
            return kernel.ImageBlock.model_validate({**more, **fields, "type": "image"})


def kernel_output(content: str | list[ContentBlock]) -> str | list[JsonDict]:
    """Return what a tool gave back as the kernel has it.

    Services take texts and images in a result: any other block becomes a text with its JSON.
    """
    if not content:
        return ""  # the kernel writes an empty list as JSON
    if isinstance(content, str):
        return content
    return [_output_block(block) for block in content]


def _output_block(block: ContentBlock) -> JsonDict:
    match block:
        case TextBlock():
            return {"type": "text", "text": block.text}
        case ImageBlock():
            return {"type": "image", **image_fields(block)}
        case _:
            dumped = block.model_dump()
            written = json.dumps(dumped, ensure_ascii=False, default=str)
            return {"type": "text", "text": written, _NESTED: dumped}
