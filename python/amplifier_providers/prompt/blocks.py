"""The blocks of a conversation as they are sent, each by its hash; what was hashed is kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Protocol

DIGEST_BYTES = 16
_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})
_SEEN = frozenset({"image", "document"})


def digest(*parts: bytes) -> bytes:
    """Return the hash of some bytes."""
    hashed = blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        hashed.update(part)
    return hashed.digest()


class WrittenTurn(Protocol):
    """A turn that was written."""

    role: Any
    parts: list[dict[str, Any]]
    results: list[Any]


@dataclass(slots=True)
class MessageBlocks:
    """The blocks of the messages of a request."""

    digests: list[bytes] = field(default_factory=list[bytes])
    sizes: list[int] = field(default_factory=list[int])
    """Bytes of each block."""
    counts: list[int] = field(default_factory=list[int])
    """Blocks of each turn."""
    first_thought: int | None = None
    """The first block that is in a turn with thoughts."""
    last_question: int = 0
    """The first block of the last turn in which the user says more than results."""
    has_images: bool = False
    steady: int = 0
    """So many blocks come before what is of this request alone."""

    def add(self, turn: WrittenTurn, blocks: list[bytes], steady: int) -> None:
        """Add the blocks of a turn.

        Args:
            turn: The turn.
            blocks: Its blocks as they are sent.
            steady: How many of them are as the next request has them.
        """
        start = len(self.digests)
        role = turn.role.encode()
        self.digests += [digest(role, block) for block in blocks]
        self.sizes += map(len, blocks)
        self.counts.append(len(blocks))
        if self.steady == start:
            self.steady += steady
        if turn.role == "user" and turn.parts:
            self.last_question = start
        kinds = {part["type"] for part in turn.parts}
        if self.first_thought is None and kinds & _THOUGHTS:
            self.first_thought = start
        if not self.has_images and (kinds & _SEEN or any(map(_has_image, turn.results))):
            self.has_images = True

    def copy(self) -> MessageBlocks:
        """Return a copy, to which more is added."""
        return MessageBlocks(
            self.digests.copy(),
            self.sizes.copy(),
            self.counts.copy(),
            self.first_thought,
            self.last_question,
            self.has_images,
            self.steady,
        )


def _has_image(result: Any) -> bool:
    output = result.output
    return not isinstance(output, str) and any(block["type"] in _SEEN for block in output)
