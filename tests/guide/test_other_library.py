"""The provider of the guide that asks a model of another library runs where that library is installed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/guide/providers.md"
PROGRAM = re.compile(
    r"^## A model of another library$.*?^```py\n(.*?)^```$", re.DOTALL | re.MULTILINE
)
USE = '''

from amplifier_agent import Agent, tool
from inspect_ai.model import ModelOutput, ModelUsage, get_model


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


call = ModelOutput.for_tool_call("mockllm/model", "add", {"a": 2, "b": 3})
last = ModelOutput.from_content("mockllm/model", "It is 5.")
for output in (call, last):
    output.usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
model = get_model("mockllm/model", custom_outputs=[call, last])
result = Agent(InspectModel(model), tools=[add]).run_sync("What is 2 + 3?")
print(result.text, result.usage.total, [each["role"] for each in result.messages])
'''


def program() -> str:
    found = PROGRAM.search(PAGE.read_text())
    assert found is not None
    return found[1]


def test_it_has_at_most_thirty_lines() -> None:
    lines = [line for line in program().splitlines() if line.strip()]

    assert len(lines) <= 30
    compile(program(), "providers.md", "exec")


# Holds: provider-1
def test_it_answers_with_calls_and_counts(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")
    (tmp_path / "program.py").write_text(program() + USE)
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout == "It is 5. 30 ['user', 'assistant', 'tool', 'assistant']\n"
