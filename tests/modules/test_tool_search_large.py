"""`glob` and `grep` look at all of a large folder, several files at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_guard import PathPolicy
from amplifier_modules.tools.search import Glob, Grep

FOLDERS, FILES = 20, 40


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("large")
    for folder in range(FOLDERS):
        place = root / f"folder_{folder:02}"
        place.mkdir()
        for number in range(FILES):
            (place / f"{number:03}.t{number}").write_text("TODO\nx\n" * (1 + number % 3))
    for number in range(300):
        (root / f"flat_{number:03}").write_text("x\n")
    return root


# Holds: sink-64
@pytest.mark.parametrize("limit", [0, 7, 100_000])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (Glob, {"pattern": "**"}),
        (Glob, {"pattern": "*.t[0-4]", "sort": "size"}),
        (Grep, {"pattern": "TODO"}),
        (Grep, {"pattern": "[Tt]ODO|x", "mode": "count"}),
        (Grep, {"pattern": ".", "mode": "files"}),
    ],
)
async def test_the_same_results_in_the_same_order_however_threads_run(
    large: Path, tool: Any, arguments: dict[str, Any], limit: int
) -> None:
    bounded = tool(PathPolicy(large), 16_384)
    outputs = [(await bounded.execute(arguments | {"limit": limit})).output for _ in range(5)]
    assert all(list(output.items()) == list(outputs[0].items()) for output in outputs)
    shown = outputs[0].get("files", outputs[0].get("matches"))
    if arguments.get("sort") != "size" and arguments.get("mode") != "count":
        assert shown == sorted(shown, key=lambda one: (one["path"], one.get("line")))
    count = outputs[0]["total" if tool is Glob else "searched_files"]
    assert count == (FOLDERS * 5 if arguments.get("sort") else FOLDERS * FILES + 300)
