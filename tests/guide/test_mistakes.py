"""Each mistake of the guide is made here, and what is said of it is what its page says."""

from __future__ import annotations

import gc
import logging
import re
import sys
import warnings
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import agent_mistakes  # noqa: F401 -- each notes its mistakes
import command_mistakes  # noqa: F401
import file_mistakes  # noqa: F401
import mcp_mistakes  # noqa: F401
import model_mistakes  # noqa: F401
import serve_mistakes  # noqa: F401
import session_mistakes  # noqa: F401
import tool_mistakes  # noqa: F401
import turn_mistakes  # noqa: F401
import web_mistakes  # noqa: F401
import written_mistakes  # noqa: F401
from mistakes import TRIGGERS

GUIDE = Path(__file__).parents[2] / "docs/guide"
NOT_HERE = {"caching", "mount-plans", "rust", "testing-a-provider"}
"""Nothing is to be done wrong on the page about caches; others are made in `tests/kernel/test_plain_mistakes.py`, in tests of the crate, and in
`tests/modules/provider_kit`."""


def rows() -> dict[tuple[str, str], str]:
    """What each page says of each mistake."""
    found: dict[tuple[str, str], str] = {}
    for page in sorted(GUIDE.glob("*.md")):
        section = page.read_text().partition("## Mistakes, and what is said\n")[2]
        section = section.partition("\n## ")[0]
        for line in re.findall(r"^\| (?!mistake|-)(.*) \|$", section, re.MULTILINE):
            what, _, said = line.partition(" | ")
            if page.stem not in NOT_HERE:
                found[page.stem, what] = said
    return found


def quotes(said: str) -> list[str]:
    """The code of a cell: what is said, word for word; `…` stands for anything."""
    return [
        (long or short).strip()
        for long, short in re.findall(r"(?<!`)``(?!`)(.+?)(?<!`)``(?!`)|(?<!`)`([^`]+)`(?!`)", said)
    ]


ROWS = rows()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}: {row[1]}")
def test_a_mistake_of_the_guide_is_told_as_its_page_says(
    row: tuple[str, str], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    caplog.set_level(logging.WARNING)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            said = str(TRIGGERS[row]())
        except Exception as error:  # noqa: BLE001 -- its kind is compared
            said = f"{type(error).__name__}: {error}"
        gc.collect()
    said = "\n".join(
        [said, *caplog.messages, *(f"{each.category.__name__}: {each.message}" for each in warned)]
    )

    expected = quotes(ROWS[row])
    assert expected
    for quote in expected:
        pattern = ".*".join(re.escape(part) for part in quote.split("…"))
        assert re.search(pattern, said, re.DOTALL), said


def test_every_mistake_of_the_guide_is_made() -> None:
    assert sorted(TRIGGERS) == sorted(ROWS)


def test_every_page_has_mistakes() -> None:
    pages = {page.stem for page in GUIDE.glob("*.md")}

    assert pages - {page for page, _ in ROWS} - NOT_HERE == set()
