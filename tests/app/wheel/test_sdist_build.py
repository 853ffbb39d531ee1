"""The source distribution builds in an empty environment that has Rust, and what it builds works."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.timeout(3_000), pytest.mark.xdist_group("wheel")]

AGENT = """
from amplifier_agent import Agent, tool


@tool
def add(a: int, b: int) -> int:
    return a + b


agent = Agent("demo", tools=[add, "tool-filesystem", "tool-search"])
print(agent.run_sync("Give me a tour of this project").text)
"""


def test_the_source_distribution_builds_installs_and_runs(
    sdist: Path, empty: Any, tmp_path: Path
) -> None:
    (tmp_path / "README.md").write_text("# A folder of notes\n")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MATURIN")}
    install = [empty.python, "-m", "pip", "install", "--quiet", "--no-binary=amplifier-core", sdist]
    built = subprocess.run(install, cwd=tmp_path, env=kept, capture_output=True, check=False)
    assert built.returncode == 0, built.stderr

    agent = empty.run(AGENT, tmp_path)
    assert (agent.returncode, agent.stderr) == (0, "")
    assert "A folder of notes" in agent.stdout
    command = empty.call("amplifier-core", "Give me a tour of this project", folder=tmp_path)
    assert command.returncode == 0, command.stderr
    assert "A folder of notes" in command.stdout
