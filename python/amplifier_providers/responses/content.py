"""Texts, images and documents as parts of the content of an item."""

from __future__ import annotations

from typing import Any

from ..wire.fields import JsonDict, fields_of

OF_USER = frozenset({"image", "document", "input_image", "input_file"})
"""Block types that a user turn and a result may contain besides text."""
_DEFAULT_FORMS = {"image": "image/png", "document": "application/pdf"}


def input_text(text: str) -> JsonDict:
    """Return a text as a part."""
    return {"type": "input_text", "text": text}


def input_part(part: JsonDict) -> JsonDict:
    """Return a block as a part; what the API has no form for becomes a text that names it."""
    match part["type"]:
        case "text" | "system":
            return input_text(part["text"])
        case "image":
            return _write_image(part) or _describe_unsendable("An image")
        case "document":
            return _document(part) or _describe_unsendable("A document")
        case _:
            return part


def image_of(item: JsonDict) -> JsonDict:
    """Return an image that the service made as a block; its item keeps all but the picture."""
    form = item.get("output_format") or "png"
    rest = {key: value for key, value in item.items() if key != "result"}
    source = {"type": "base64", "media_type": f"image/{form}", "data": item["result"]}
    return {"type": "image", "source": source, "item": rest}


def image_item(part: JsonDict) -> JsonDict:
    """Return the item of an image that the service made."""
    return {**fields_of(part.get("item")), "result": fields_of(part.get("source")).get("data")}


def _write_image(part: JsonDict) -> JsonDict | None:
    given = _source_of(part, "image_url", data="image_url", file="file_id")
    if given is None:
        return None
    return {"type": "input_image", "detail": part.get("detail") or "auto", **given}


def _document(part: JsonDict) -> JsonDict | None:
    source = fields_of(part.get("source"))
    if source.get("type") == "text" and isinstance(source.get("data"), str):
        return input_text(source["data"])
    given = _source_of(part, "file_url", data="file_data", file="file_id")
    if given is None:
        return None
    if "file_data" in given:
        given = {"filename": part.get("title") or part.get("filename") or "document.pdf", **given}
    return {"type": "input_file", **given}


def _source_of(part: JsonDict, url: str, *, data: str, file: str) -> JsonDict | None:
    """Return where the bytes are: in an address, in the request, or with the service."""
    source: dict[str, Any] = fields_of(part.get("source"))
    if isinstance(found := source.get("data"), str):
        form = source.get("media_type") or _DEFAULT_FORMS[part["type"]]
        return {data: found if found.startswith("data:") else f"data:{form};base64,{found}"}
    if isinstance(found := source.get("url"), str):
        return {url: found}
    if isinstance(found := source.get("file_id"), str):
        return {file: found}
    return None


def _describe_unsendable(what: str) -> JsonDict:
    return input_text(f"({what} was here, whose source this API does not take.)")
