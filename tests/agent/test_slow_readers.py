"""A slow reader of a stream holds its socket, not memory, and delays nobody else."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

sys.path.append(str(Path(__file__).parent))
from slow_readers import Reader, agent_of, count_deltas, counting_server

from amplifier_agent.handover import AHEAD

FAST, SLOW = 40, 10
MOST_BYTES = 2_000_000
"""What a stream may take that is not read: the buffers of two sockets, and 64 deltas."""


# Holds: agent-63
async def test_slow_readers_among_many_hold_64_deltas_each_and_the_rest_stays_at_the_server() -> (
    None
):
    async with counting_server() as server:
        agent = agent_of(server)
        slow = [Reader(f"slow-{number} 400", pauses_after=1) for number in range(SLOW)]
        fast = [Reader(f"fast-{number} 20", pauses_after=None) for number in range(FAST)]
        async with anyio.create_task_group() as readings:
            for reader in slow:
                readings.start_soon(reader.read, agent)
            for reader in slow:
                await reader.paused.wait()
            async with anyio.create_task_group() as others:
                for reader in fast:
                    others.start_soon(reader.read, agent)
            await server.wait_until_quiet()

            for reader in fast:
                reader.check_whole()
            # Each has what waits for it, and the one that it took.
            assert 0 < count_deltas() <= SLOW * (AHEAD + 1)
            held = [server.written[reader.prompt] for reader in slow]
            assert max(held) < MOST_BYTES

            for reader in slow:
                reader.goes_on.set()
        for reader in slow:
            reader.check_whole()
