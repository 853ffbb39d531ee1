"""The form of an answer: held to by the service where the model can, else asked for in a text."""

from __future__ import annotations

import json
import re
from typing import Any

from amplifier_core.message_models import ChatRequest, ResponseFormatJsonSchema

from ..requests.openai_models import ModelProfile
from ..wire.body import WireRequest, json_bytes
from ..wire.fields import JsonDict
from ..wire.schema import strict_schema
from .content import input_text

_NAME = "answer"
_JSON = "Answer with JSON and nothing else."
_MAX_NAME_CHARS = 64


def add_format(encoded: WireRequest, request: ChatRequest, profile: ModelProfile) -> None:
    """Add the form that the answer of a request must have."""
    form = request.response_format
    if form is None or form.type == "text":
        return
    if isinstance(form, ResponseFormatJsonSchema):
        _add_schema(encoded, form, profile)
    elif profile.structured == "none":
        _ask_for(encoded, _JSON)
        encoded.degrade("an answer in JSON", "a text that asks for it", _explain_format(encoded))
    else:
        _ask_for(encoded, _JSON)  # the API refuses this form where no text says JSON
        _hold_to(encoded, {"type": "json_object"})


def _add_schema(
    encoded: WireRequest, form: ResponseFormatJsonSchema, profile: ModelProfile
) -> None:
    name, schema = _named_schema(form.json_schema)
    strict = None if form.strict is False else strict_schema(schema)
    asked = "an answer that fits a schema"
    if profile.structured == "schema" and (strict or schema.get("type") == "object"):
        if form.strict and not strict:
            reason = "the schema has no strict form"
            encoded.degrade("a strict schema", "a schema that guides the model", reason)
        _hold_to(
            encoded,
            {
                "type": "json_schema",
                "name": name,
                "schema": strict or schema,
                "strict": strict is not None,
            },
        )
        return
    _ask_for(encoded, f"{_JSON} It must fit this JSON schema: {json.dumps(schema, default=str)}")
    if profile.structured == "object" and schema.get("type") == "object":
        _hold_to(encoded, {"type": "json_object"})
        encoded.degrade(
            asked, "a JSON object, and a text with the schema", _explain_format(encoded)
        )
    elif profile.structured == "schema":
        encoded.degrade(asked, "a text with the schema", "the top of the schema is no object")
    else:
        encoded.degrade(asked, "a text with the schema", _explain_format(encoded))


def _named_schema(given: JsonDict) -> tuple[str, JsonDict]:
    """Return the name and the schema, which may be inside an object with both."""
    if isinstance(given.get("schema"), dict) and "type" not in given:
        return _make_name(given.get("name")), given["schema"]
    return _make_name(given.get("title")), given


def _make_name(text: Any) -> str:
    fitting = re.sub(r"[^a-zA-Z0-9_-]", "_", text) if isinstance(text, str) else ""
    return fitting[:_MAX_NAME_CHARS] or _NAME


def _hold_to(encoded: WireRequest, form: JsonDict) -> None:
    encoded.fields["text"] = {"format": form}


def _ask_for(encoded: WireRequest, text: str) -> None:
    message = {"role": "developer", "content": [input_text(text)]}
    encoded.turns = [*encoded.turns, json_bytes(message)]
    encoded.has_tail = True


def _explain_format(encoded: WireRequest) -> str:
    return f"`{encoded.model}` cannot be held to one"
