"""The programs of the pages run as they are written, against a strict server that has their answers."""

from __future__ import annotations

import runpy
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from programs_run import printed_by

from amplifier_testing.servers import Answer, Call
from arcllm.layers.stack import ORDER

CODE = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "programs.py"))
PROGRAMS: list[Any] = [
    program for program in CODE["programs"]() if program.name.startswith(CODE["ARCLLM"])
]
ANSWERS: dict[str, list[Any]] = {
    "arcllm_index_1": [Answer(Call("weather", {"city": "Paris"})), "Yes, it rains in Paris."],
    "arcllm_index_2": ["Once upon a time there was a bug.", "2", "4"],
    "arcllm_index_3": ['{"name": "Paris", "people": 2100000}'],
    "arcllm_layers_1": ["Hello, too.", "Once upon a time."],
    "arcllm_layers_2": ["Done."],
}
"""What the model says to each program."""


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_a_program_of_a_page_runs_and_prints_what_its_page_says(
    program: Any, tmp_path: Path, interpreters: Any
) -> None:
    source = tmp_path / "program.py"
    source.write_text(program.source)

    printed, _ = printed_by(interpreters, source, tmp_path, ANSWERS[program.name])

    assert printed == program.prints


def test_the_first_program_is_a_loop_of_tool_calls_in_twenty_lines() -> None:
    lines = [line for line in PROGRAMS[0].source.splitlines() if line.strip()]

    assert len(lines) <= 20
    assert "while response.tool_calls:" in lines


# Holds: layer-23
@pytest.mark.parametrize("layer", ORDER)
def test_the_page_of_the_layers_has_every_setting(layer: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "arcllm" / "layers.md").read_text()
    (section,) = [part for part in page.split("\n## ") if part.startswith(f"{layer}\n")]
    stem = "".join(word.capitalize() for word in layer.split("_"))
    settings = getattr(import_module(f"arcllm.layers.{layer}"), f"{stem}Settings")

    assert [name for name in settings.model_fields if f"`{name}`" not in section] == []
