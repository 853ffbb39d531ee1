"""Hooks that keep what they hear."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parent))


class Heard:
    """Hooks that keep each event."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        self.events.append((event, data))

    def blocks(self) -> list[tuple[str, Any]]:
        """Return what was heard of blocks: each event with the type of its block."""
        return [
            (event.partition(":")[2], data["block_type"])
            for event, data in self.events
            if event.startswith("content_block:")
        ]


@pytest.fixture
def hooks() -> Heard:
    return Heard()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
