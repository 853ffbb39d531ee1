"""Faults of `chunks`, planted in a provider of ours: the small one has none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from planted import Fault

from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatRequest, ChatResponse
from amplifier_providers.answers.pieces import text_of_piece
from amplifier_providers.anthropic.config import AnthropicConfig
from amplifier_providers.anthropic.provider import AnthropicProvider
from amplifier_stream import StreamChunk

Piece = StreamChunk | ChatResponse


class Ours(AnthropicProvider):
    """A provider of ours, made as the small one is."""

    def __init__(self, base_url: str, key: str, hooks: Any) -> None:
        config = AnthropicConfig(
            api_key=key, base_url=base_url, default_model="claude-opus-4-6", max_retries=0
        )
        super().__init__(config, hooks)


class Twice(Ours):
    async def chunks(self, request: ChatRequest, **options: Any) -> AsyncIterator[Piece]:
        async for piece in super().chunks(request, **options):
            yield piece
            if text_of_piece(piece):
                yield piece


class AsIfWhole(Ours):
    async def chunks(self, request: ChatRequest, **options: Any) -> AsyncIterator[Piece]:
        try:
            async for piece in super().chunks(request, **options):
                yield piece
        except LLMError:
            pass


class Deaf(Ours):
    async def chunks(self, request: ChatRequest, **options: Any) -> AsyncIterator[Piece]:
        try:
            async for piece in super().chunks(request, **options):
                yield piece
        except BaseException as error:
            raise ValueError("no answer") from error


class Kept(Ours):
    async def chunks(self, request: ChatRequest, **options: Any) -> AsyncIterator[Piece]:
        pieces = super().chunks(request, **options)
        vars(self).setdefault("kept", []).append(pieces)
        async for piece in pieces:
            yield piece


CHUNK_FAULTS = {
    "yields each text twice": Fault(
        Twice, "test_chunks_add_up_to_the_answer", "`chunks` yielded the text 'Let mLet m"
    ),
    "ends a cut answer as if it were whole": Fault(
        AsIfWhole,
        "test_chunks_of_an_answer_that_was_cut_off_raise",
        "`chunks` ended as if the answer were whole",
    ),
    "takes a cancellation for a wrong value": Fault(
        Deaf, "test_chunks_can_be_cancelled_at_every_await", "raised `ValueError: no answer`"
    ),
    "keeps the answers of those who leave": Fault(
        Kept,
        "test_chunks_can_be_left_at_every_piece",
        "connections are open after `chunks` was left",
    ),
}
