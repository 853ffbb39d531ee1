"""The programs of the pages run as they are written, and print what their pages say.

`…` of a page stands for anything.
"""

from __future__ import annotations

import os
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
LONGEST_LINES = 40
LONGEST = {"web": 60}
PAGES_OF_CODE = runpy.run_path(str(DOCS / "programs.py"))
PROGRAMS: list[Any] = [
    program
    for program in PAGES_OF_CODE["programs"]()
    if not program.name.startswith(PAGES_OF_CODE["ARCLLM"])
]
PAGES = sorted(page.stem for page in (DOCS / "guide").glob("*.md"))
IN_RUST = {"rust"}
IN_A_DATABASE = 'store="postgres"'
"""In the source of programs that need a server."""


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_a_program_of_a_page_runs_and_prints_what_its_page_says(
    program: Any, tmp_path: Path, interpreters: Any, request: pytest.FixtureRequest
) -> None:
    for other in PROGRAMS:
        if other.page == program.page and other.file is not None:
            (tmp_path / other.file).write_text(other.source)
    (tmp_path / "notes.txt").write_text("one\nTODO two\n")
    (tmp_path / "program.py").write_text(program.source)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ANTHROPIC")}
    kept["XDG_CACHE_HOME"] = str(tmp_path / "caches")
    if IN_A_DATABASE in program.source:
        database = request.getfixturevalue("postgres")
        kept["DATABASE_URL"] = database.dsn
        # Other tests may have sessions of the same names.
        database.run(
            "TRUNCATE amplifier.session, amplifier.event, amplifier.blob, amplifier.inbox",
            "SELECT 1",
        )
    done = interpreters.run("program.py", env=kept, cwd=tmp_path, input=b"y\n")
    assert (done.returncode, done.stderr) == (0, "")
    if program.prints is not None:
        expected = ".*?".join(re.escape(part) for part in program.prints.split("…"))
        assert re.fullmatch(expected, done.stdout, re.DOTALL), done.stdout


def test_every_page_begins_with_a_program_of_ten_to_forty_lines() -> None:
    first = {program.page: program for program in reversed(PROGRAMS)}
    lines = {page: len(first[page].source.splitlines()) for page in PAGES if page not in IN_RUST}

    assert {
        page: count
        for page, count in lines.items()
        if not 10 <= count <= LONGEST.get(page, LONGEST_LINES)
    } == {}
