"""The form that an answer must have, as far as a server can hold a model to it."""

from __future__ import annotations

import json
import re

from amplifier_core.message_models import ChatRequest, ResponseFormatJsonSchema

from ..wire.body import WireRequest
from ..wire.fields import JsonDict
from ..wire.schema import resolve_reference
from .presets import OutputForm

_DEFAULT_NAME = "answer"
_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_OPTIONS = frozenset({"anyOf", "oneOf", "allOf"})
_PLAIN = "Answer with JSON alone, without a fence and without any other text."


def add_answer_form(encoded: WireRequest, request: ChatRequest, form: OutputForm) -> str | None:
    """Ask for the form that a request wants, or for the nearest that the server knows.

    Args:
        encoded: The request; what is not done as requested is noted there.
        request: What is wanted.
        form: What the server knows.

    Returns:
        What the model must be instructed in words; None for nothing.
    """
    wanted = request.response_format
    if wanted is None or wanted.type == "text":
        return None
    if isinstance(wanted, ResponseFormatJsonSchema):
        schema = resolve_reference(wanted.json_schema)
        # Services hold a model to an object alone, and would turn a list or a text into one.
        is_object = schema.get("type") == "object" and not _OPTIONS & schema.keys()
        if form == "json_schema" and is_object:
            encoded.fields["response_format"] = _by_schema(wanted, schema)
            return None
        instruction = (
            f"{_PLAIN} It must fit this JSON schema:\n{json.dumps(schema, ensure_ascii=False)}"
        )
        can_be_held = form == "json_object" and is_object
    else:
        instruction = _PLAIN
        can_be_held = form != "none"
    if can_be_held:
        encoded.fields["response_format"] = {"type": "json_object"}
    if not (can_be_held and wanted.type == "json"):
        encoded.degrade(
            f"response format {wanted.type}",
            "a JSON object of any form" if can_be_held else "plain text",
            f"`{encoded.provider}` cannot hold an answer to it; the model is asked for it in words",
        )
    return instruction


def _by_schema(wanted: ResponseFormatJsonSchema, schema: JsonDict) -> JsonDict:
    title = schema.get("title")
    name = _NOT_IN_A_NAME.sub("_", title)[:64] if isinstance(title, str) else ""
    inner: JsonDict = {"name": name or _DEFAULT_NAME, "schema": schema}
    if wanted.strict is not None:
        inner["strict"] = wanted.strict
    return {"type": "json_schema", "json_schema": inner}
