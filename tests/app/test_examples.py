"""The examples run as they are written, those of the README too."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
EXAMPLES = sorted(
    path
    for path in (ROOT / "examples").glob("*.py")
    if not path.name.startswith(("agent_", "arcllm_"))
)
PRINTS = {
    "own_tool.py": "5 words",
    "tour.py": "notes.txt",
    "watch.py": "notes.txt",
}


def run(command: Any, source: str) -> str:
    (command.folder / "notes.txt").write_text("one\nTODO two\n")
    done = subprocess.run(
        [sys.executable, "-"],
        input=source,
        env=command.environment,
        cwd=command.folder,
        capture_output=True,
        check=False,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs(command: Any, example: Path) -> None:
    assert PRINTS[example.name] in run(command, example.read_text())


def test_the_agent_of_the_readme_is_the_example() -> None:
    [block] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    example = (ROOT / "examples/tour.py").read_text()
    assert block in example
    assert len(block.split("\n\n\n")) == 3


def test_the_layout_of_the_readme_exists() -> None:
    [block] = re.findall(r"## Layout\n\n```\n(.*?)```", README, re.DOTALL)
    missing = [
        path
        for line in block.splitlines()
        for path in [line.split()[0]]
        if not (ROOT / path).exists()
    ]
    assert missing == []
