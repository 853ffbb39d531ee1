"""What a service and a model accept of a history; a provider extends `HistoryRules` by its wire."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from .fields import JsonDict, fields_of

_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""The forms of images that all services read."""


@dataclass(frozen=True)
class Writer:
    """Who wrote a message of the assistant, as its metadata says."""

    provider: str | None = None
    models: tuple[str, ...] = ()
    """The model that was asked, and the one that answered."""

    @classmethod
    def of(cls, metadata: Any) -> Writer:
        """Read the metadata of a message."""
        known = fields_of(metadata)
        provider = known.get("provider")
        names = (known.get("requested_model"), known.get("model"))
        return cls(
            provider if isinstance(provider, str) else None,
            tuple(name for name in names if isinstance(name, str)),
        )

    @property
    def name(self) -> str | None:
        """Who it was, for messages."""
        return self.provider or (self.models[0] if self.models else None)


@dataclass(frozen=True)
class IdForm:
    """The form of an id that a service allows."""

    not_allowed: re.Pattern[str] = re.compile(r"[^a-zA-Z0-9_-]")
    max_length: int = 64
    exact_length: int | None = None
    """A length that each id must have."""

    def fit_id(self, given: str, number: int = 1) -> str:
        """Return `given` if it fits, else an id made of it; `number` tells equal ones apart."""
        fitting = self.not_allowed.sub("_", given) or "call"
        wanted = fitting if number == 1 else f"{fitting}_{number}"
        if self.exact_length is not None and len(wanted) != self.exact_length:
            return _digest(wanted, self.exact_length)
        if self.not_allowed.search(wanted) or (self.exact_length and "_" in wanted):
            return _digest(wanted, self.exact_length or self.max_length)
        if len(wanted) > self.max_length:
            tail = _digest(wanted, 12)
            return f"{wanted[: self.max_length - len(tail) - 1]}_{tail}"
        return wanted


@dataclass(frozen=True)
class NameForm:
    """The form of tool names that a service allows."""

    not_allowed: re.Pattern[str] = re.compile(r"[^a-zA-Z0-9_-]")
    max_length: int = 64

    def fit_name(self, name: str) -> str:
        """Return `name` if it fits, else one made of it; different names stay different."""
        if name and len(name) <= self.max_length and not self.not_allowed.search(name):
            return name
        tail = _digest(name, 8)
        fitting = self.not_allowed.sub("_", name)
        return f"{fitting[: self.max_length - len(tail) - 1]}_{tail}"


@dataclass(frozen=True)
class HistoryRules:
    """What is accepted of a history."""

    provider: str
    """Whose blocks are its own."""
    model: str
    """The model that will read it."""
    user_blocks: frozenset[str] = frozenset()
    """Block types that a user turn may contain besides text and results."""
    assistant_blocks: frozenset[str] = frozenset()
    """Block types of the service that an assistant turn may contain besides text and calls."""
    result_blocks: frozenset[str] = frozenset()
    """Block types that a result may contain besides text."""
    system_first: bool = True
    """Whether a text of the system can only stand at the beginning."""
    ends_with_user: bool = False
    """Whether the last turn must be the user's."""
    call_ids: IdForm = field(default_factory=IdForm)
    tool_names: NameForm = field(default_factory=NameForm)

    def is_of_provider(self, writer: Writer) -> bool:
        """Whether this provider wrote a message, or nobody says who did."""
        return writer.provider in (None, self.provider)

    def is_same_model(self, one: str, other: str) -> bool:
        """Whether two names mean the same model."""
        return one == other

    def is_of_model(self, writer: Writer) -> bool:
        """Whether this provider and model wrote a message, or nobody says who did."""
        if not self.is_of_provider(writer):
            return False
        return not writer.models or any(
            self.is_same_model(name, self.model) for name in writer.models
        )

    def own_thinking(self, block: JsonDict, writer: Writer) -> JsonDict | None:
        """Return a block of thinking as it is sent back, None if this model cannot read it."""
        del block, writer
        return None

    def add_metadata_blocks(self, blocks: list[JsonDict], metadata: JsonDict) -> list[JsonDict]:
        """Return the blocks of an assistant message with those that only its metadata has."""
        del metadata
        return blocks

    def own_part(self, part: JsonDict, writer: Writer) -> JsonDict:
        """Return a part of an assistant message without what only its own writer can read."""
        del writer
        return part

    def can_send(self, block: JsonDict) -> bool:
        """Whether a block of an accepted type is in a form that the service takes."""
        form = fields_of(block.get("source")).get("media_type")
        return block.get("type") != "image" or form is None or form in _IMAGES

    def make_unique(self, parts: list[JsonDict], taken: dict[str, None]) -> list[JsonDict]:
        """Return the parts of an assistant message without ids that others before them have.

        Args:
            parts: The parts.
            taken: The ids of calls as they are sent, and what this has added for parts before.
        """
        del taken
        return parts

    def pair_parts(self, parts: list[JsonDict]) -> list[JsonDict]:
        """Return the parts of an assistant message without those that need a missing other."""
        return parts


def _digest(text: str, length: int) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]
