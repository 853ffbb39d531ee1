"""The blocks of a prompt: text with images and documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

TEXT = "text"
MEDIA = frozenset({"image", "document"})


def write_text(blocks: Iterable[Mapping[str, Any]]) -> str:
    """Return a prompt as the text that hooks and loops of others get: media become their names."""
    return "\n\n".join(
        str(block["text"]) if block["type"] == TEXT else _name_media(block) for block in blocks
    )


def replace_text(blocks: Iterable[Mapping[str, Any]], text: str) -> list[dict[str, Any]]:
    """Return the blocks with another text, which comes first, and their images and documents."""
    media = [dict(block) for block in blocks if block["type"] in MEDIA]
    return [{"type": TEXT, "text": text}, *media] if text else media


def _name_media(block: Mapping[str, Any]) -> str:
    source = cast("Mapping[str, Any]", block.get("source") or {})
    named = block.get("title") or source.get("media_type") or source.get("type")
    return f"[{block['type']}: {named}]"
