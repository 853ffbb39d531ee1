"""A request for a response, as the rules see it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ..openai.models import OpenAIModel
from ..serving.fields import Path
from ..serving.issued import Issued
from ..serving.reading import Json, read_mapping, read_objects, read_text
from .stored import Stored


@dataclass(frozen=True)
class JudgedRequest:
    """A request whose fields are known, with what the server knows."""

    body: Json
    model: OpenAIModel
    input: list[Json]
    """The items of the input, each with its type."""
    issued: Issued | None
    stored: Stored

    def of_kind(self, *kinds: str) -> Iterator[tuple[Path, Json]]:
        """Yield the items of these types and where they are."""
        for index, item in enumerate(self.input):
            if item["type"] in kinds:
                yield ("input", index), item

    @cached_property
    def before(self) -> list[Json]:
        """The items of the conversation that the request goes on with."""
        return self.stored.context_of(self.body)

    @cached_property
    def effort(self) -> str:
        """The reasoning effort that is asked for."""
        return read_text(read_mapping(self.body.get("reasoning")).get("effort"))

    @cached_property
    def tools(self) -> list[Json]:
        """The tools."""
        return read_objects(self.body.get("tools"))

    @property
    def is_stored(self) -> bool:
        """Whether the response is to be stored."""
        return self.body.get("store") is not False
