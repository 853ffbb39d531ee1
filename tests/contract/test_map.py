"""The map in `docs/development.md` shows every room, and nothing that is not there."""

from __future__ import annotations

import re
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
DEVELOPMENT = (CHECKOUT / "docs" / "development.md").read_text()
MAP = DEVELOPMENT.partition("## The map")[2]


def rooms() -> list[str]:
    """Every folder of the packages and the crates with sources in it, and the folders of tests."""
    sources = (*CHECKOUT.glob("python/**/*.py"), *CHECKOUT.glob("crates/*/src/**/*.rs"))
    folders = {path.parent for path in sources}
    folders |= {
        path
        for path in (CHECKOUT / "tests").iterdir()
        if path.is_dir() and not path.name.startswith(("_", "."))
    }
    return sorted(folder.relative_to(CHECKOUT).as_posix() for folder in folders)


def test_every_room_has_its_line() -> None:
    listed = re.findall(r"^\| `([^`]+)` \|", MAP, re.MULTILINE)

    assert sorted(listed) == rooms()


def test_every_path_of_the_map_exists() -> None:
    named = re.findall(r"`([\w.-]+(?:/[\w.-]+)+|[A-Z]+\.md)`", MAP)

    assert [path for path in named if not (CHECKOUT / path).exists()] == []


def test_the_readme_points_to_the_map() -> None:
    layout = (CHECKOUT / "README.md").read_text().partition("## Layout")[2].partition("\n## ")[0]
    named = re.findall(r"^((?:crates|python|docs|tests)/\S*)", layout, re.MULTILINE)

    assert "docs/development.md" in named
    assert [path for path in named if not (CHECKOUT / path).exists()] == []
