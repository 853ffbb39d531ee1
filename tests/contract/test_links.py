"""The links of the documentation lead to files and headings that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    {
        *CHECKOUT.glob("*.md"),
        *CHECKOUT.glob("docs/**/*.md"),
        *CHECKOUT.glob("crates/*/*.md"),
    }
)
CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)", re.MULTILINE)
HEADING = re.compile(r"^#+ (.+?)(?: \{#([\w-]+)\})?$", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as GitHub and the site name them alike."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    return {
        given or re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        for heading, given in HEADING.findall(text)
    }


def is_broken(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists() or not target.is_relative_to(CHECKOUT):
        return True
    return bool(anchor) and (target.suffix != ".md" or anchor not in anchors(target))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_every_link_within_the_project_leads_somewhere(page: Path) -> None:
    found = (
        inline or reference for inline, reference in LINK.findall(CODE.sub("", page.read_text()))
    )
    links = [link for link in found if not re.match(r"[a-z]+:", link)]

    assert [link for link in links if is_broken(page, link)] == []


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    listed = re.findall(r"^ +- (\S+\.md)$", (CHECKOUT / "mkdocs.yml").read_text(), re.MULTILINE)
    docs = CHECKOUT / "docs"

    assert sorted(listed) == sorted(
        page.relative_to(docs).as_posix() for page in docs.glob("**/*.md")
    )


@pytest.mark.parametrize(
    "picture", sorted(CHECKOUT.glob("docs/pictures/*.svg")), ids=lambda p: p.stem
)
def test_a_picture_loads_nothing_and_runs_nothing(picture: Path) -> None:
    text = picture.read_text()

    assert re.findall(r"<script|<image|href=|@import|src:", text) == []
    assert set(re.findall(r"https?://[^\"]*", text)) == {"http://www.w3.org/2000/svg"}
