"""Holds a thousand streams open, a tenth of them read slowly, and prints what they hold as JSON.

The slow ones read one delta of a long answer and pause; the others, ten times as many, read short
ones in rounds. It prints the deltas held, the bytes that the server could write to a slow stream at
most, and the resident bytes after the first round and after the last.
"""

from __future__ import annotations

import asyncio
import gc
import json
import resource
import sys
from pathlib import Path

import anyio

sys.path.append(str(Path(__file__).parents[1] / "agent"))
from slow_readers import Reader, agent_of, count_deltas, counting_server

ROUNDS = 6


def resident_bytes() -> int:
    """The memory of this process that is in use."""
    numbers = Path("/proc/self/statm").read_text(encoding="ascii")
    return int(numbers.split()[1]) * resource.getpagesize()


async def main(streams: int, slow_ones: int) -> None:
    async with counting_server() as server:
        agent = agent_of(server)
        slow = [Reader(f"slow-{number} 400", pauses_after=1) for number in range(slow_ones)]
        resident: list[int] = []
        async with anyio.create_task_group() as readings:
            for reader in slow:
                readings.start_soon(reader.read, agent)
            for reader in slow:
                await reader.paused.wait()
            for number in range(ROUNDS):
                async with anyio.create_task_group() as others:
                    for each in range(streams - slow_ones):
                        reader = Reader(f"fast-{number}-{each} 5", pauses_after=None)
                        others.start_soon(reader.read, agent)
                await server.wait_until_quiet()
                gc.collect()
                resident.append(resident_bytes())
            held = {
                "deltas": count_deltas(),
                "bytes": max(server.written[reader.prompt] for reader in slow),
                "resident": resident,
            }
            for reader in slow:
                reader.goes_on.set()
        for reader in slow:
            reader.check_whole()
    print(json.dumps(held))


if __name__ == "__main__":
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if sys.argv[3] == "trio":
        anyio.run(main, int(sys.argv[1]), int(sys.argv[2]), backend="trio")
    else:
        asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
