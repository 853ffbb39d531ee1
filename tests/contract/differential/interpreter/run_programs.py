"""Run programs under the `amplifier_core` of this interpreter, one line of results for each.

python run_programs.py PROGRAMS RESULTS: both are files of JSON lines.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import cancellation_steps
import coordinator_steps
import hook_steps
import loader_steps
import retry_steps
import session_steps
import validation_steps
from packages import write_packages
from world import World

SECONDS = 20
"""How long a program may take before it counts as hanging."""

STEP_MODULES = [
    cancellation_steps,
    coordinator_steps,
    hook_steps,
    loader_steps,
    retry_steps,
    session_steps,
    validation_steps,
]


def missing(names: list[str]) -> str | None:
    """The first module, or `module:attribute`, that this side does not have."""
    for name in names:
        module, _, attribute = name.partition(":")
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError:
            return name
        if attribute and not hasattr(found, attribute):
            return name
    return None


async def perform(world: World, steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    outcomes: list[dict[str, Any]] = []

    async def all_steps() -> None:
        for step in steps:
            outcome = await world.perform(step)
            outcomes.append(outcome)

    task = asyncio.ensure_future(all_steps())
    done, _ = await asyncio.wait([task], timeout=SECONDS)
    if not done:
        world.over = True
        task.cancel()
        await asyncio.wait([task], timeout=1)
        return [*outcomes, {"hangs": True}]
    task.result()
    return outcomes


def run(program: dict[str, Any], folder: str) -> dict[str, Any]:
    if (name := missing(program.get("needs", []))) is not None:
        return {"id": program["id"], "missing": name}
    world = World(folder)
    logging.getLogger().addHandler(world)
    try:
        return {"id": program["id"], "steps": asyncio.run(perform(world, program["steps"]))}
    except BaseException as raised:  # noqa: BLE001 -- the results say how a program ended
        return {"id": program["id"], "ends with": repr(raised)}
    finally:
        logging.getLogger().removeHandler(world)
        world.close()


def main(programs: str, results: str) -> None:
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        write_packages(Path(folder))
        sys.path.append(str(Path(folder) / "installed"))
        with Path(programs).open() as lines, Path(results).open("w") as out:
            for line in lines:
                out.write(json.dumps(run(json.loads(line), folder)) + "\n")
                out.flush()
    # Threads of a runtime that still wait for a hung program must not keep us.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
