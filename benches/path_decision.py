"""What a decision on a path costs, against `os.path.realpath` of the same path.

The decision is `PathPolicy.resolve`: whether a path that is to be read lies beneath the root, links
followed, and what it is called there. Beside it stands `log_path`, which says how a path is called in
a log and looks nothing up.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable

from side_by_side import Figure, Times, run, time_each

from amplifier_guard import PathPolicy, log_path

DEPTHS = (1, 5, 20)


def time_call(call: Callable[[], object]) -> float:
    """CPU seconds of one call."""

    async def repeat(count: int) -> None:
        for _ in range(count):
            call()

    return asyncio.run(time_each(repeat))


def measure() -> Times:
    """A decision and `realpath` for files so many folders deep."""
    times: Times = {}
    with tempfile.TemporaryDirectory() as folder:
        root = os.path.realpath(folder)
        policy = PathPolicy(root)
        for depth in DEPTHS:
            inside = os.path.join(*(f"folder{number}" for number in range(depth)), "file.txt")
            path = os.path.join(root, inside)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8"):
                pass
            assert policy.resolve(path) == policy.resolve(inside) == inside
            times[f"realpath {depth}"] = time_call(lambda path=path: os.path.realpath(path))
            times[f"resolve {depth}"] = time_call(lambda path=path: policy.resolve(path))
            times[f"log {depth}"] = time_call(lambda path=path: log_path(path, root=root))
    return times


if __name__ == "__main__":
    run(
        __file__,
        measure,
        "path decision against realpath",
        [
            figure
            for depth in DEPTHS
            for figure in (
                Figure(
                    f"resolve, {depth} folders deep",
                    f"resolve {depth}",
                    share=2,
                    against=f"realpath {depth}",
                ),
                Figure(
                    f"log_path, {depth} folders deep",
                    f"log {depth}",
                    share=2,
                    against=f"realpath {depth}",
                ),
            )
        ],
    )
