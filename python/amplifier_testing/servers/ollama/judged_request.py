"""A request for an answer as the rules see it, and the fields of each of its objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..serving.fields import Path, read_sdk_fields
from ..serving.reading import Json, read_items
from .models import OllamaModel
from .refusals import as_object, check_fields, make_refusal

ROLES = ("system", "user", "assistant", "tool")


_SDK = read_sdk_fields("ollama")
_JUDGED_BY_RULES = {"format": "any", "keep_alive": "any", "think": "any"}
"""Values of several types, which rules refuse with the errors of the service."""
BODY = _SDK.objects["chat"].extend(
    optional={**_JUDGED_BY_RULES, "shift": "boolean|null", "truncate": "boolean|null"}
)
GENERATE_BODY = _SDK.objects["generate"].extend(optional=_JUDGED_BY_RULES)
MESSAGE = _SDK.objects["message"].extend(optional={"tool_call_id": "string|null"})
CALL = _SDK.objects["call"].extend(optional={"id": "string|null"})
CALL_FUNCTION = _SDK.objects["call_function"].extend(optional={"index": "integer"})
TOOL = _SDK.objects["tool"].extend({"type": "string", "function": "object"})
FUNCTION = _SDK.objects["function"].extend({"name": "string"})
OPTIONS: Mapping[str, str] = {
    name: kind.removesuffix("|null") for name, kind in _SDK.objects["options"].optional.items()
} | {"min_p": "number"}  # which the SDK passes on without knowing it
"""Options and their types; null counts as none."""


@dataclass(frozen=True)
class JudgedRequest:
    """A request whose fields are known, with the model that it names."""

    body: Json
    model: OllamaModel
    messages: list[Json]

    def of_role(self, *roles: str) -> Iterator[Json]:
        """Yield the messages of these roles."""
        return (message for message in self.messages if message["role"] in roles)


def read_messages(body: Json) -> list[Json]:
    """Read the messages, or refuse one whose shape is wrong."""
    messages: list[Json] = []
    for value in read_items(body.get("messages")):
        path: Path = ("messages",)
        message = as_object(value, path)
        check_fields(message, MESSAGE, path)
        if message["role"] not in ROLES:
            raise make_refusal(
                f'invalid role: "{message["role"]}", must be one of'
                ' ["system", "user", "assistant", "tool"]'
            )
        messages.append(message)
    return messages


# The SDK has no argument for these; the service reads them.

# A tool that lacks one of these is no use to the template of a model.
