"""The programs of `examples/arcllm_*.py` run as they are written, against a strict server."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from programs_run import printed_by

from amplifier_testing.servers import Answer, Call

EXAMPLES = Path(__file__).parents[2] / "examples"
ANSWERS: dict[str, list[Any]] = {
    "arcllm_output": ['{"name": "Paris", "country": "France"}'],
    "arcllm_service": ["Done."] * 3,
    "arcllm_stream": ["They fly at night."],
    "arcllm_tools": [
        Answer(Call("weather", {"city": "Paris"}), Call("weather", {"city": "Rome"})),
        "It is dry in Rome.",
    ],
}
"""What the model says to each."""
PRINTS = {
    "arcllm_output": r"Paris\n",
    "arcllm_service": r"(provider=anthropic .* outcome=ok .*\n){3}(Done\.\n){3}",
    "arcllm_stream": r"They fly at night\.\n\d+ tokens, end_turn\n",
    "arcllm_tools": r"It is dry in Rome\.\n",
}
"""What each prints."""


@pytest.fixture
def run(tmp_path: Path, interpreters: Any) -> Callable[[str], tuple[str, list[Any]]]:
    """Runs a program and returns what it printed, and the requests that it sent."""

    def run(name: str) -> tuple[str, list[Any]]:
        return printed_by(interpreters, EXAMPLES / f"{name}.py", tmp_path, ANSWERS[name])

    return run


@pytest.mark.parametrize("name", sorted(PRINTS))
def test_a_program_runs_as_it_is_written(name: str, run: Any) -> None:
    printed, _ = run(name)

    assert re.fullmatch(PRINTS[name], printed), printed


def test_every_program_is_run() -> None:
    assert {path.stem for path in EXAMPLES.glob("arcllm_*.py")} == {*PRINTS}


def test_no_personal_data_leaves_the_service(run: Any) -> None:
    _, requests = run("arcllm_service")

    sent = str(requests)
    assert "example.org" not in sent
    assert "[PII:EMAIL]" in sent
