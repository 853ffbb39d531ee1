"""Recorded streams cost what their usage and the published prices come to, reckoned by hand."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from amplifier_providers.prices.pricing import Pricing
from amplifier_stream import StreamDecoder

FOLDER = os.environ.get("RECORDED_STREAMS")
MOMENT = datetime(2026, 11, 23, 12, tzinfo=UTC).timestamp()
MILLION = Decimal(1_000_000)
BY_HAND = {
    # Each token of input, of the cache, of output and of reasoning at its price for a million.
    "anthropic-prompt-cache-read.sse": (
        "anthropic", (4 * 3 + 1_165 * Decimal("0.3") + 221 * 15) / MILLION,
    ),
    "anthropic-thinking-text.sse": ("anthropic", (43 * 3 + 282 * 15) / MILLION),
    # One search of the web for a cent.
    "anthropic-web-search-tokens.sse": (
        "anthropic", (9_447 * 1 + 114 * 5) / MILLION + Decimal("0.01"),
    ),
    "anthropic-derived-overloaded.sse": ("anthropic", (506 * 3 + 5 * 15) / MILLION),
    "openai-responses-function-call.sse": (
        "openai", (255 * Decimal("2.5") + 16 * 10) / MILLION,
    ),
    # At half the price, as its tier is `flex`; the reasoning is paid for as output.
    "openai-responses-reasoning-encrypted-fc.sse": (
        "openai", (53 * Decimal("1.25") + (21 + 448) * 10) / 2 / MILLION,
    ),
    "openai-chat-tool-call.sse": (
        "openai", (53 * Decimal("0.15") + 15 * Decimal("0.6")) / MILLION,
    ),
    # The deployment is a router; the answer says which model it was.
    "azure-chat-model-router.sse": (
        "azure-openai", (15 * Decimal("0.05") + (14 + 64) * Decimal("0.4")) / MILLION,
    ),
    "ollama-native-chat.ndjson": ("ollama", Decimal(0)),
}  # fmt: skip
DIALECTS = {
    "anthropic": "anthropic",
    "openai-responses": "responses",
    "openai-chat": "chat",
    "azure-chat": "chat",
    "ollama-native": "ollama",
}


@pytest.mark.skipif(not FOLDER, reason="`RECORDED_STREAMS` names no folder with recorded streams")
@pytest.mark.parametrize("name", BY_HAND)
def test_a_recorded_answer_costs_what_it_comes_to_by_hand(name: str) -> None:
    service, expected = BY_HAND[name]
    [dialect] = [each for start, each in DIALECTS.items() if name.startswith(start)]
    decoder = StreamDecoder(dialect)
    decoder.feed((Path(FOLDER or "") / name).read_bytes())
    result = decoder.finish()

    pricing = Pricing(service, now=lambda: MOMENT)
    cost = pricing.add_cost(result.usage, result.raw_usage, (result.model or "",), result.metadata)

    assert cost == expected
