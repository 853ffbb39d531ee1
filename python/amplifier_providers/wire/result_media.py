"""Results with images or documents, for services whose tools can only answer with text."""

from __future__ import annotations

from .fields import JsonDict
from .turn import Result

SEPARATOR = "\n\n"
"""Between the texts of one message."""

_MEDIA = frozenset({"image", "document"})


def split_result(result: Result) -> tuple[str, list[JsonDict]]:
    """Return the text of a result, and what the next message of the user has to show of it."""
    output = result.output
    if isinstance(output, str):
        return output, []
    media = [block for block in output if block["type"] in _MEDIA]
    texts = [block["text"] for block in output if block["type"] == "text"]
    if media:
        kinds = " and ".join(dict.fromkeys(f"{block['type']}s" for block in media))
        texts.append(f"(The {kinds} of this result are in the next message of the user.)")
        note = f"(From the result of the call `{result.call_id}` of `{result.tool}`:)"
        media = [{"type": "text", "text": note}, *media]
    return SEPARATOR.join(texts), media
