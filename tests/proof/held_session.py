"""What a session costs while it is alive: prints the bytes of memory for each of many.

Run under each of the two sides, with nothing but the standard library and `amplifier_core`.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from pathlib import Path
from typing import Any

BENCHES = Path(__file__).parents[2] / "benches"


def private_bytes() -> int:
    """The memory of this process that is its own and written to."""
    rollup = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in rollup if line.startswith("Private_Dirty"))


async def bytes_per_session(count: int, *, is_initialized: bool) -> float:
    """Hold many sessions at once and divide what they take.

    Args:
        count: How many sessions.
        is_initialized: Whether their modules are mounted, three small objects each.
    """
    sys.path[:0] = [str(BENCHES), str(BENCHES / "modules")]
    from session import CONFIG, GivenModules

    from amplifier_core import AmplifierSession

    loader = GivenModules()

    async def session() -> Any:
        made = AmplifierSession(CONFIG)
        if is_initialized:
            made.coordinator.loader = loader
            await made.initialize()
        return made

    warm = [await session() for _ in range(500)]
    gc.collect()
    before = private_bytes()
    alive = [await session() for _ in range(count)]
    gc.collect()
    after = private_bytes()
    return (after - before) / len(alive) if warm else 0


if __name__ == "__main__":
    print(asyncio.run(bytes_per_session(int(sys.argv[1]), is_initialized=sys.argv[2] == "mounted")))
