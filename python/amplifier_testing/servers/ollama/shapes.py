"""The fields of each object of a request: those of the SDK, and where the service differs from it."""

from __future__ import annotations

from collections.abc import Mapping

from ..serving.sdk_fields import read_sdk_fields

_SDK = read_sdk_fields("ollama")

_JUDGED_BY_RULES = {"format": "any", "keep_alive": "any", "think": "any"}
"""Values of several types, which rules refuse with the errors of the service."""

# The SDK has no argument for these; the service reads them.
BODY = _SDK.objects["chat"].extend(
    optional={**_JUDGED_BY_RULES, "shift": "boolean|null", "truncate": "boolean|null"}
)
GENERATE_BODY = _SDK.objects["generate"].extend(optional=_JUDGED_BY_RULES)
MESSAGE = _SDK.objects["message"].extend(optional={"tool_call_id": "string|null"})
CALL = _SDK.objects["call"].extend(optional={"id": "string|null"})
CALL_FUNCTION = _SDK.objects["call_function"].extend(optional={"index": "integer"})

# A tool that lacks one of these is no use to the template of a model.
TOOL = _SDK.objects["tool"].extend({"type": "string", "function": "object"})
FUNCTION = _SDK.objects["function"].extend({"name": "string"})

OPTIONS: Mapping[str, str] = {
    name: kind.removesuffix("|null") for name, kind in _SDK.objects["options"].optional.items()
} | {"min_p": "number"}  # which the SDK passes on without knowing it
"""Options and their types; null counts as none."""
