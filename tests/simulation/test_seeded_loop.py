"""The event loop of the simulation: its time jumps, its order is that of the seed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

import pytest
from seeded_loop import SeededLoop, StuckError


def run(
    main: Callable[[], Coroutine[Any, Any, Any]],
    seed: int | None = None,
    after_batch: Callable[[], None] = lambda: None,
) -> Any:
    loop = SeededLoop(None if seed is None else Random(seed), after_batch)
    try:
        return loop.run_until_complete(main())
    finally:
        for task in asyncio.all_tasks(loop):
            task._log_destroy_pending = False
            task.get_coro().close()
        loop.close()


async def order_of_eight() -> list[int]:
    order: list[int] = []

    async def note(number: int) -> None:
        order.append(number)

    await asyncio.gather(*map(note, range(8)))
    return order


def test_a_wait_takes_no_time_and_the_clock_shows_it() -> None:
    async def main() -> float:
        await asyncio.sleep(1e6)
        return asyncio.get_running_loop().time()

    assert run(main) == 1e6


def test_a_seed_decides_the_order_of_what_is_ready_at_once() -> None:
    assert run(order_of_eight) == list(range(8))
    assert run(order_of_eight, 1) == run(order_of_eight, 1)
    orders = {tuple(run(order_of_eight, seed)) for seed in range(20)}
    assert len(orders) == 20


def test_a_program_that_nothing_can_wake_is_stuck() -> None:
    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(StuckError, match="nothing can wake one"):
        run(main)


def test_what_a_check_raises_ends_the_run() -> None:
    def check() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        run(order_of_eight, 1, check)
