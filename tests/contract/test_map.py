"""The map in `docs/development.md` shows every package; every room says what is in it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from structure import LINTED, describe_rooms, read_house

CHECKOUT = Path(__file__).resolve().parents[2]
DEVELOPMENT = (CHECKOUT / "docs" / "development.md").read_text()
MAP = DEVELOPMENT.partition("## The map")[2]


def test_every_package_and_crate_has_its_line() -> None:
    listed = re.findall(r"^\| `([^`]+)` \|", MAP, re.MULTILINE)
    packages = [path.parent for path in CHECKOUT.glob("python/*/__init__.py")]
    crates = [path.parent for path in CHECKOUT.glob("crates/*/Cargo.toml")]
    rooms = [path.relative_to(CHECKOUT).as_posix() for path in (*packages, *crates)]

    assert sorted(listed) == sorted([*rooms, "tests", "benches"])


def test_the_packages_are_listed_from_the_bottom_up() -> None:
    listed = re.findall(r"^\| `python/([^`]+)` \|", MAP, re.MULTILINE)

    floors = [floor.split(" | ") for floor in reversed(LINTED["contracts"][0]["layers"])]
    assert (
        sorted(listed, key=lambda name: [name in floor for floor in floors].index(True)) == listed
    )


def test_every_room_says_what_is_in_it() -> None:
    descriptions = describe_rooms(CHECKOUT)

    assert descriptions.keys() == read_house(CHECKOUT).rooms().keys()
    assert [room for room, line in descriptions.items() if len(line) < 15] == []


def test_every_path_of_the_map_exists() -> None:
    named = re.findall(r"`([\w.-]+(?:/[\w.-]+)+|[A-Z]+\.md)`", MAP)

    assert [path for path in named if not (CHECKOUT / path).exists()] == []


def test_the_readme_points_to_the_map() -> None:
    layout = (CHECKOUT / "README.md").read_text().partition("## Layout")[2].partition("\n## ")[0]
    named = re.findall(r"^((?:crates|python|docs|tests)/\S*)", layout, re.MULTILINE)

    assert "docs/development.md" in named
    assert [path for path in named if not (CHECKOUT / path).exists()] == []
