"""Freezes a process, lets another take its session over, and thaws it.

`frozen_sessions.py FOLDER MODE TIMES` goes on until it was taken over so many times, and prints as JSON
what came of it.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from itertools import pairwise
from math import inf
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from killed_sessions import Place, count, read, work

from amplifier_core.llm_errors import ConfigurationError
from amplifier_modules.stores import StaleOwnerError, StoreError
from amplifier_modules.stores.sqlite import schema

LONGEST_LIFE = 0.3
"""Seconds after which a process is frozen, at most."""
LOCK_SECONDS = 1.0
"""How long a process waits for the lock of a file; a frozen one never gives it back."""
PATIENCE = 5.0
"""Seconds in which a process must end; more than it waits for the lock."""
GRACE = 0.3
"""Seconds in which one that is still the owner goes on."""
MOST_TRIES = 5
"""Freezes for each time; one that writes keeps the lock, and nobody can take its session over."""
TAKEN_OVER = "other done, frozen stale"
_STALE, _REFUSED = 3, 4


def begin(place: Place, turns: float) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        asyncio.run(work(place, turns))
        code = 0
    except StaleOwnerError:
        code = _STALE
    except (StoreError, ConfigurationError):  # the frozen one holds the lock of the file
        code = _REFUSED
    finally:
        os._exit(code)


def wait_for(child: int, seconds: float) -> str:
    """Return how a process ended; one that goes on is killed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return {0: "done", _STALE: "stale", _REFUSED: "refused"}.get(code, f"ended by {code}")
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "goes on"


def main(folder: str, mode: str, times: str) -> None:
    schema._WAIT_SECONDS = LOCK_SECONDS
    # Whatever is imported late is there before the first fork.
    asyncio.run(work(Place(Path(folder) / "warm", mode), turns=1))
    place, chance = Place(Path(folder), mode), random.Random(5)
    endings: Counter[str] = Counter()
    for _ in range(MOST_TRIES * int(times)):
        if endings[TAKEN_OVER] == int(times):
            break
        frozen = begin(place, turns=inf)
        time.sleep(chance.uniform(0.05, LONGEST_LIFE * place.slowness))
        os.kill(frozen, signal.SIGSTOP)
        try:
            other = wait_for(begin(place, turns=1), PATIENCE)
        finally:
            os.kill(frozen, signal.SIGCONT)
        seconds = GRACE if other == "refused" else PATIENCE
        endings[f"other {other}, frozen {wait_for(frozen, seconds)}"] += 1
    events, waiting = asyncio.run(read(place))
    epochs = [event.epoch for event in events]
    counts = count(place, events, waiting)
    counts["stale_rows"] = sum(a > b for a, b in pairwise(epochs))
    print(json.dumps({"endings": endings, **counts}))


if __name__ == "__main__":
    main(*sys.argv[1:])
