"""10,000 runs of an agent, each in a session of its own, leave nothing behind."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import anyio
import pytest

from amplifier_agent import Agent
from amplifier_core import AmplifierSession

RUNS, AT_ONCE, WARM = 10_000, 10, 1_000

pytestmark = pytest.mark.timeout(900)
SERVER = """
import sys, time
sys.path.insert(0, sys.argv[1])
from counting_server import counting_server
with counting_server() as server:
    print(server.url, flush=True)
    for line in sys.stdin:
        server.seen.clear()
        print(server.connections, server.open, flush=True)
"""


def count_objects() -> Counter[str]:
    gc.collect()
    return Counter(type(each).__qualname__ for each in gc.get_objects())


@pytest.mark.parametrize("library", ["asyncio", "trio"])
def test_many_runs_leave_no_objects_no_files_and_no_connections(library: str) -> None:
    folder = Path(__file__).parents[1] / "modules" / "provider_connections"
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    url = server.stdout.readline().strip()
    config = {
        "base_url": url, "api_key": "key", "default_model": "m", "use_streaming": False,
        "prices": {"m": {"input": 1, "output": 1}},
    }  # fmt: skip
    agent = Agent(plan={"providers": [{"module": "provider-openai-chat", "config": config}]})

    async def run_some(count: int) -> None:
        async def run() -> None:
            for _ in range(count // AT_ONCE):
                assert (await agent.run("Hi")).text == "Hi"

        async with anyio.create_task_group() as group:
            for _ in range(AT_ONCE):
                group.start_soon(run)

    async def check() -> None:
        await run_some(WARM)
        before, files = count_objects(), len(os.listdir("/proc/self/fd"))
        await run_some(RUNS - WARM)
        grown = count_objects() - before
        # A hundred cancelled timers, which the loop forgets later, keep the context of their runs.
        assert {name: count for name, count in grown.items() if count > RUNS // 4} == {}
        assert len(os.listdir("/proc/self/fd")) == files
        sessions = sum(isinstance(each, AmplifierSession) for each in gc.get_objects())
        assert sessions < RUNS // 20

    try:
        anyio.run(check, backend=library)
        server.stdin.write("\n")
        server.stdin.flush()
        connections, still_open = map(int, server.stdout.readline().split())
    finally:
        server.stdin.close()
        server.wait()
        server.stdout.close()
    assert connections <= AT_ONCE
    assert still_open == 0
