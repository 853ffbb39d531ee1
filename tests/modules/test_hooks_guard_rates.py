"""Rates from the mount plan of a session to the guard that heeds them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core import AmplifierSession

ONCE = {"limit": 1, "period": 1000}


async def run_two_turns(folder: Path, rates: dict[str, Any]) -> list[str]:
    """Run two turns in one session; return their answers and the errors of their tools."""
    plan = {
        "session": {"orchestrator": "loop-streaming", "context": "context-simple"},
        "providers": [{"module": "provider-demo"}],
        "tools": [{"module": "tool-filesystem", "config": {"root": str(folder)}}],
        "hooks": [{"module": "hooks-guard", "config": {"rates": rates}}],
    }
    async with AmplifierSession(plan) as session:
        texts: list[str] = []
        session.coordinator.hooks.register(
            "tool:error", lambda _, data: texts.append(data["error"]["msg"]), name="recorder"
        )
        for _ in range(2):
            texts.append(await session.execute("Give me a tour of this project"))  # noqa: PERF401
        return texts


# Holds: sink-50
@pytest.mark.parametrize(
    ("scope", "words"),
    [
        ("user", "Operation denied: rate limit of this user reached; retry in "),
        ("provider", "Operation denied: rate limit of this provider reached; retry in "),
        ("tool", "rate limit of this tool reached; retry in "),
    ],
)
async def test_a_rate_in_the_mount_plan_is_heeded(tmp_path: Path, scope: str, words: str) -> None:
    (tmp_path / "notes.txt").write_text("one\n")

    free = await run_two_turns(tmp_path, {})
    limited = await run_two_turns(tmp_path, {scope: ONCE})

    assert not any(words in text for text in free)
    assert any(words in text for text in limited)
