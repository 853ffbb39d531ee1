"""What an agent does while the disk of its store fails: `agent_work.py FOLDER MODE`.

Its tool adds lines to a file, and so does each turn that was answered; it prints `refused …` for
each error.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from killed_sessions import Place, work

from amplifier_modules.stores import StoreError

ROUNDS = 2
"""How often it goes on, whatever went wrong before."""


async def work_on(place: Place) -> None:
    for _ in range(ROUNDS):
        try:
            await work(place, turns=1)
        except StoreError as error:
            print(f"refused {error}", flush=True)


if __name__ == "__main__":
    asyncio.run(work_on(Place(Path(sys.argv[1]), sys.argv[2])))
