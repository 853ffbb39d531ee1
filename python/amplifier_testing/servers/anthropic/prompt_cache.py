"""The prompt cache of the Messages API, by its published rule: marks, sizes, times, look-back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ..serving.answer import Usage
from ..serving.reading import Json, read_mapping, read_objects
from .models import find_model

LOOK_BACK = 20
"""Blocks that are looked at from a mark backwards, the marked one among them."""
SECONDS = {"5m": 300.0, "1h": 3_600.0}
"""How long something is kept after its last use, by its `ttl`."""
MINIMUM_TOKENS: Mapping[str, int] = {
    "claude-fable-5": 512,
    "claude-mythos-5": 512,
    "claude-opus-5": 512,
    "claude-haiku-4-5": 4_096,
    "claude-opus-4-5": 4_096,
    "claude-opus-4-6": 4_096,
    "claude-opus-4-7": 4_096,
    "claude-mythos-preview": 4_096,
    "claude-3-5-haiku": 2_048,
    "claude-3-haiku": 2_048,
}
"""The fewest tokens that are kept, by the beginning of the name of a model."""
OTHER_MINIMUM = 1_024
"""The same for all other models."""
BYTES_PER_TOKEN = 4


@dataclass(frozen=True)
class _Block:
    digest: str
    """The hash of all up to the end of the block."""
    tokens: int
    """The tokens up to the end of the block."""
    lasts: float | None
    """How long it is kept; None without a mark."""


class PromptCache:
    """What the API keeps of prompts, and how it counts them: a token has four bytes.

    Thoughts of earlier turns count for all models. What a request reads is kept for as long again.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        """Keep nothing yet.

        Args:
            clock: Returns seconds, such as `amplifier_core.world.time`.
        """
        self._clock = clock
        self._kept: dict[str, float] = {}
        """When what is kept is gone, by its hash."""

    def count(self, body: Json, usage: Usage) -> Usage:
        """Read a request through the cache; return the usage of its answer with what was counted."""
        now = self._clock()
        blocks = list(_list_blocks(body))
        marked = [place for place, block in enumerate(blocks) if block.lasts is not None]
        found = (self._find(blocks, place, now) for place in reversed(marked))
        read = next(filter(None, found), 0)
        name = str(body["model"])
        model = find_model(name)
        least = _find_minimum(name if model is None else model.name)
        end = 0
        for place in marked:
            block = blocks[place]
            if block.tokens >= least:
                self._kept[block.digest] = now + (block.lasts or 0.0)
                end = max(end, block.tokens)
        rest = blocks[-1].tokens - end
        return Usage(rest, usage.output, read, end - read, usage.reasoning)

    def _find(self, blocks: list[_Block], mark: int, now: float) -> int:
        """Return the tokens of the longest beginning that is kept, from a mark backwards."""
        for block in reversed(blocks[max(mark + 1 - LOOK_BACK, 0) : mark + 1]):
            if self._kept.get(block.digest, 0.0) > now:
                lasts = blocks[mark].lasts or 0.0
                self._kept[block.digest] = max(self._kept[block.digest], now + lasts)
                return block.tokens
        return 0


def _find_minimum(model: str) -> int:
    found = [name for name in MINIMUM_TOKENS if model.startswith(name)]
    return MINIMUM_TOKENS[max(found, key=len)] if found else OTHER_MINIMUM


def _list_blocks(body: Json) -> Iterator[_Block]:
    """Yield the blocks of a request in the order of the cache."""
    content = [block for message in body["messages"] for block in _read_content(message)]
    seen = any(_is_seen(block) for _, block in content)
    system: Any = body.get("system") or []
    if isinstance(system, str):
        system = [{"type": "text", "text": system}]
    output = read_mapping(body.get("output_config"))
    before_system = [output.get("format"), body.get("speed")]
    before_messages = [body.get("tool_choice"), body.get("thinking"), output.get("effort"), seen]
    parts: tuple[tuple[Any, list[tuple[str, Json]]], ...] = (
        (body["model"], [("tool", each) for each in read_objects(body.get("tools"))]),
        (before_system, [("system", each) for each in read_objects(system)]),
        (before_messages, content),
    )
    digest, tokens = "", 0
    for setting, blocks in parts:
        digest = _digest(digest, setting)
        for role, block in blocks:
            mark = block.get("cache_control")
            plain = {key: value for key, value in block.items() if key != "cache_control"}
            digest = _digest(digest, [role, plain])
            tokens += 3 + len(_write(plain)) // BYTES_PER_TOKEN
            yield _Block(digest, tokens, SECONDS[mark.get("ttl", "5m")] if mark else None)


def _read_content(message: Json) -> list[tuple[str, Json]]:
    content = message["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    return [(message["role"], block) for block in content]


def _is_seen(block: Json) -> bool:
    nested = read_objects(block.get("content"))
    return any(each.get("type") in {"image", "document"} for each in (block, *nested))


def _digest(before: str, value: Any) -> str:
    return sha256(before.encode() + _write(value)).hexdigest()


def _write(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
