"""A stored session goes on with any other provider: no server refuses it, and what is left out is named."""

from __future__ import annotations

import os
import sys
from itertools import product
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from stored_elsewhere import SIDES, WIRE_FORMATS, go_on_elsewhere

NAMES = tuple(SIDES) if os.environ.get("PROVE") else WIRE_FORMATS


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


# Holds: store-33
@pytest.mark.timeout(600)
async def test_every_provider_goes_on_with_the_session_of_every_other(tmp_path: Path) -> None:
    left_out: set[str] = set()
    with go_on_elsewhere(tmp_path) as go_on:
        for first, second in product(NAMES, repeat=2):
            gone_on = await go_on(first, second)
            assert gone_on.missing == [], (first, second)
            assert all(gone_on.left_out.values()), (first, second, gone_on)
            left_out |= gone_on.left_out.keys()
    assert left_out >= {"thinking of `anthropic`", "content blocks `image`"}
