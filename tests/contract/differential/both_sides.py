"""The generated programs, and what each side makes of them."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

import cancellation_programs
import coordinator_programs
import hook_programs
import loader_programs
import retry_programs
import session_programs
import validation_programs

SEED = 202
"""Every run generates the same programs."""

HERE = Path(__file__).parent
INTERPRETER = HERE / "interpreter" / "run_programs.py"
REFERENCE = HERE.parents[2] / ".tools" / "reference" / "bin" / "python"
AREAS = (
    hook_programs,
    cancellation_programs,
    coordinator_programs,
    session_programs,
    retry_programs,
    loader_programs,
    validation_programs,
)


def generate() -> list[dict[str, Any]]:
    """All programs, each with an id of its own."""
    random = Random(SEED)
    programs = [program for area in AREAS for program in area.programs(random)]
    # What a program that ends the reference's loop leaves behind would show in the next one.
    return sorted(programs, key=lambda program: "clean-up that exits" in program["id"])


def run_both(programs: list[dict[str, Any]], folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the reference and we make of the programs, by their ids.

    Args:
        programs: What to run, all in one process for each side.
        folder: For the files in between.
    """
    written = folder / "programs.jsonl"
    written.write_text("".join(json.dumps(program) + "\n" for program in programs))
    sides = {"reference": str(REFERENCE), "ours": sys.executable}
    with ExitStack() as files:
        running = {
            side: subprocess.Popen(
                [python, INTERPRETER, written, folder / f"{side}.jsonl"],
                stdout=subprocess.DEVNULL,
                stderr=files.enter_context((folder / f"{side}.stderr").open("w")),
            )
            for side, python in sides.items()
        }
        for side, process in running.items():
            if process.wait() != 0:
                sys.stderr.write(
                    f"{side} ended with {process.returncode}: {folder}/{side}.stderr\n"
                )
    reference, ours = (read(folder / f"{side}.jsonl") for side in sides)
    return reference, ours


def read(results: Path) -> dict[str, Any]:
    lines = results.read_text().splitlines() if results.exists() else []
    return {result["id"]: result for result in map(json.loads, lines)}
