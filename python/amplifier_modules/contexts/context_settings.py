"""The settings of contexts."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from amplifier_providers.value_problems import Form

from .compaction import CompactionSettings, Count
from .meter import Kind
from .put_aside import MIN_BYTES


def _put_aside_bytes(count: int) -> int:
    if 0 < count < MIN_BYTES:
        raise ValueError
    return count


class ContextSettings(CompactionSettings):
    """How much of a conversation a request contains."""

    is_shared = True

    max_tokens: Count = 200_000
    """Tokens of a request where neither the caller nor the provider sets a budget."""
    token_meter: Kind = "actual"
    """How tokens are counted: `actual` corrects the estimates by what the provider counted for the
    last request, `estimate` does not."""
    put_aside_bytes: Annotated[
        Count,
        AfterValidator(_put_aside_bytes),
        Form(f"a whole number, at least {MIN_BYTES}, or 0 to put nothing aside"),
    ] = 128 * 1024
    """Bytes of a tool's result or of a text of the user above which it is put aside: the
    conversation has its beginning, its end and a reference, and the model reads parts of it with
    the tool `read_stored`. 0 puts nothing aside."""
    put_aside_total_bytes: Count = 256 * 1024 * 1024
    """Bytes of all texts that are put aside; the oldest are dropped for new ones."""
    summarize: bool = False
    """Whether a model writes a summary of the messages that are left out. Without one, or if it
    fails, they are left out all the same."""
    summary_tokens: int = Field(default=1_000, ge=50, le=1_000_000)
    """Tokens of a summary, at most."""
