"""The prompt cache of OpenAI, by its published rule: equal beginnings, in steps of tokens."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..serving.answer import Usage
from ..serving.reading import Json, read_mapping, read_objects

LEAST_TOKENS = 1_024
STEP_TOKENS = 128
EXTENDED_SECONDS = 86_400.0
"""How long something is kept after its last use, with `prompt_cache_retention` `24h`."""
BYTES_PER_TOKEN = 4
_MOST_PROMPTS = 256


@dataclass(frozen=True)
class _Prompt:
    model: str
    content: bytes
    until: float


class PromptCache:
    """What OpenAI keeps of prompts, and how it counts them: a token has four bytes.

    Without a `prompt_cache_retention` of a day a prompt is kept for `seconds`, which the vendor
    gives as from five minutes to an hour.
    """

    def __init__(self, clock: Callable[[], float], seconds: float = 450.0) -> None:
        """Keep nothing yet.

        Args:
            clock: Returns seconds, such as `amplifier_core.world.time`.
            seconds: How long a prompt is kept where the request does not ask for a day.
        """
        self._clock = clock
        self._seconds = seconds
        self._kept: list[_Prompt] = []

    def count(self, body: Json, context: list[Json], usage: Usage) -> Usage:
        """Read a request through the cache; return the usage of its answer with what was counted.

        Args:
            body: The request.
            context: The items of its conversation, those that are stored among them.
            usage: What the answer used otherwise.
        """
        now = self._clock()
        content = b"".join(_list_blocks(body, context))
        total = len(content) // BYTES_PER_TOKEN
        common = max((self._read(each, body, content, now) for each in self._kept), default=0)
        read = common // STEP_TOKENS * STEP_TOKENS if common >= LEAST_TOKENS else 0
        is_extended = body.get("prompt_cache_retention") == "24h"
        lasts = EXTENDED_SECONDS if is_extended else self._seconds
        self._kept = [
            *self._kept[1 - _MOST_PROMPTS :],
            _Prompt(body["model"], content, now + lasts),
        ]
        return replace(usage, input=total - read, cache_read=read, cache_write=0)

    def _read(self, kept: _Prompt, body: Json, content: bytes, now: float) -> int:
        """Return the tokens that a prompt has in common with one that is kept."""
        if kept.model != body["model"] or kept.until <= now:
            return 0
        low, high = 0, min(len(kept.content), len(content))
        while low < high:
            middle = (low + high + 1) // 2
            if kept.content[:middle] == content[:middle]:
                low = middle
            else:
                high = middle - 1
        return low // BYTES_PER_TOKEN


def _list_blocks(body: Json, context: list[Json]) -> Iterator[bytes]:
    """Yield what the model reads, each block in whole tokens."""
    for tool in read_objects(body.get("tools")):
        yield _write(tool)
    form = read_mapping(body.get("text")).get("format")
    if form is not None:
        yield _write(form)
    if body.get("instructions"):
        yield _write(body["instructions"])
    for item in context:
        yield _write(item)


def _write(value: Any) -> bytes:
    written = json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    return written + b" " * (-len(written) % BYTES_PER_TOKEN)
