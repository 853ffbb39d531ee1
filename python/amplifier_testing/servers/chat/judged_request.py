"""A request for a completion, as the rules see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..openai.models import OpenAIModel
from ..openai.refusals import as_object, check_fields, check_value
from ..serving.fields import Fields, Path
from ..serving.issued import Issued
from ..serving.reading import Json, items, objects, text
from .presets import Preset
from .shapes import MESSAGES


@dataclass(frozen=True)
class JudgedRequest:
    """A request whose fields are known, with what the server knows."""

    body: Json
    model: OpenAIModel
    messages: list[Json]
    preset: Preset
    issued: Issued | None
    reasoned: Mapping[str, str]
    """The reasoning that the server sent before its calls, by the ids of these."""

    def of_role(self, *roles: str) -> Iterator[tuple[Path, Json]]:
        """Yield the messages of these roles and where they are."""
        for index, message in enumerate(self.messages):
            if message["role"] in roles:
                yield ("messages", index), message

    @cached_property
    def effort(self) -> str:
        """The reasoning effort that is asked for."""
        return text(self.body.get("reasoning_effort"))

    @cached_property
    def tools(self) -> list[Json]:
        """The tools."""
        return objects(self.body.get("tools"))

    @cached_property
    def loop_start(self) -> int:
        """Where the turn in progress begins: at the last message of the user."""
        places = [i for i, message in enumerate(self.messages) if message["role"] == "user"]
        return places[-1] if places else 0


def read_messages(body: Json, preset: Preset) -> list[Json]:
    """Read the messages, or refuse one whose shape is wrong."""
    messages: list[Json] = []
    for index, value in enumerate(body["messages"]):
        path: Path = ("messages", index)
        message = as_object(value, path)
        check_fields({"role": message["role"]} if "role" in message else {}, _ROLE, path)
        check_value(message["role"], MESSAGES, (*path, "role"))
        fields = MESSAGES[message["role"]]
        if message["role"] == "assistant":
            fields = Fields(fields.required, {**fields.optional, **preset.message_fields})
        inner = {name: message[name] for name in message if name != "role"}
        check_fields(inner, fields, path)
        messages.append(message)
    return messages


_ROLE = Fields({"role": "string"})


def calls_of(message: Json) -> list[Json]:
    """Return the tool calls of a message."""
    return objects(items(message.get("tool_calls")))
