"""Many calls through the whole stack: prints, as JSON, by how much what they leave behind has grown.

The first half of them is made before it is counted: caches fill, connections open.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import sqlite3
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from arcllm import Message, Model, load_model

BENCHES = Path(__file__).parents[2] / "benches"

WHOLE = "claude-sonnet-4-5"
AT_ONCE = 8


def layers(folder: Path) -> dict[str, Any]:
    """Return the settings of every layer that is there."""
    return {
        "otel": {"exporter": "none"},
        "telemetry": True,
        "audit": True,
        "security": {"signing": "hmac-sha256", "signing_key": "k" * 32},
        "budget": {"monthly_limit_usd": 100_000, "path": str(folder / "budget")},
        "routing": {"models": ["anthropic:claude-haiku-4-5"], "rules": ["capability", "cost"]},
        "retry": {"max_retries": 1, "backoff_base_seconds": 1e-6},
        "fallback": {"chain": ["anthropic:claude-haiku-4-5"]},
        "rate_limit": {"requests_per_minute": 1_000_000},
    }


async def ask(model: Model, number: int, messages: list[Message]) -> None:
    """Ask in one of the ways: whole, as a stream, and a stream that is left."""
    if number % 3 == 0:
        await model.complete(messages, agent=f"agent {number % 7}")
        return
    async with model.stream(messages) as stream:
        async for _ in stream:
            if number % 3 == 2:
                break


async def ask_all(model: Model, count: int) -> None:
    messages = [Message(role="user", content="Write to ada@example.com.")]
    numbers = iter(range(count))

    async def ask_some() -> None:
        for number in numbers:
            await ask(model, number, messages)

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(ask_some())


def state() -> dict[str, int]:
    """Return how much there is now of what may leak."""
    for _ in range(3):
        gc.collect()
    proc = Path("/proc/self")
    pages = int((proc / "statm").read_text().split()[1]) if proc.exists() else 0
    return {
        "objects": len(gc.get_objects()),
        "bytes": pages * os.sysconf("SC_PAGE_SIZE"),
        "files": len(os.listdir(proc / "fd")) if proc.exists() else 0,
        "threads": threading.active_count(),
        "tasks": len(asyncio.all_tasks()),
    }


def reserved(folder: Path) -> int:
    """Return how many calls of the budget were not settled."""
    connection = sqlite3.connect(folder / "budget")
    try:
        return connection.execute("SELECT COUNT(*) FROM reserved").fetchone()[0]
    finally:
        connection.close()


async def grown(count: int, address: str, folder: Path) -> dict[str, int]:
    """Make so many calls, and return by how much each has grown in the second half of them."""
    settings = layers(folder)
    async with load_model(
        "anthropic", WHOLE, base_url=address, api_key="none", **settings
    ) as model:
        await ask_all(model, count // 2)
        before = state()
        await ask_all(model, count - count // 2)
        after = state()
    left = {name: after[name] - before[name] for name in before}
    return {**left, "reserved": reserved(folder), "open": state()["files"] - before["files"]}


if __name__ == "__main__":
    sys.path.insert(0, str(BENCHES))
    from model_server import model_server

    os.environ["ANTHROPIC_API_KEY"] = "none"  # of the models that `routing` and `fallback` open
    for name in ("telemetry", "audit"):
        logger = logging.getLogger(f"arcllm.{name}")
        logger.setLevel(logging.INFO)
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
    with model_server() as server, TemporaryDirectory() as place:
        os.environ["ANTHROPIC_BASE_URL"] = f"{server}/text/5"
        print(json.dumps(asyncio.run(grown(int(sys.argv[1]), f"{server}/text/5", Path(place)))))
