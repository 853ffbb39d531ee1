"""The page of a session as a browser shows it."""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from browser import PROGRAM, Browser
from recorded_sessions import make_sessions

from amplifier_app.trace.page import describe_sessions, write_page

pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed (Debian: `chromium`)"),
    pytest.mark.xdist_group("browser"),
]
HOSTILE = "</script><script>document.title='owned'</script><img src=https://example.com/a>{{data}}"
NAMES = (
    "[...document.querySelectorAll('.step:not([hidden]) .name')].map(each => each.firstChild.data)"
)
OPEN = "[...document.querySelectorAll('.step[open]')].length"
FOCUSED = "document.activeElement.innerText"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Generator[Browser]:
    folder = tmp_path_factory.mktemp("browser")
    page = folder / "page.html"
    page.write_text(write_page(describe_sessions(make_sessions(HOSTILE))))
    with Browser(folder / "profile") as browser:
        browser.open(page)
        yield browser


# Holds: trace-2
def test_the_page_shows_turns_steps_tokens_time_and_cost(browser: Browser) -> None:
    assert browser.evaluate(NAMES) == ["m-1", "task", "m-1", "wipe", "wipe", "compaction", "m-1"]
    texts = browser.evaluate(
        "[...document.querySelectorAll('.turn > p')].map(each => each.innerText)"
    )
    assert texts == [
        "15.0 s · 200 in · 20 out · $1.000",
        "5.0 s · 100 in (90% cached) · 10 out · $0.500 · truncated",
    ]
    totals = browser.evaluate("document.getElementById('totals').innerText").split("\n")
    assert totals == [
        "turns", "2", "model calls", "3", "tool calls", "2", "tokens in", "300", "of them cached",
        "30%", "tokens out", "30", "time in turns", "20.0 s", "cost", "$1.500",
    ]  # fmt: skip
    bar = "document.querySelectorAll('.bar')[1].style"
    assert browser.evaluate(f"[{bar}.left, {bar}.width]") == ["20%", "40%"]
    assert browser.evaluate("document.querySelectorAll('#plot .hit').length") == 2


# Holds: trace-2
def test_what_a_model_or_a_tool_says_is_text_and_the_page_asks_for_nothing(
    browser: Browser,
) -> None:
    assert browser.evaluate("document.querySelector('.turn h2').innerText") == f"1. {HOSTILE}"
    assert browser.evaluate("document.title") == HOSTILE
    assert browser.evaluate("document.querySelectorAll('img').length") == 0
    assert browser.problems == []


# Holds: trace-2
def test_the_page_is_searched_and_used_by_keyboard(browser: Browser) -> None:
    browser.press("j")
    browser.press("j")
    assert browser.evaluate(FOCUSED).startswith("task")
    browser.press("k")
    assert browser.evaluate(FOCUSED).startswith("m-1")
    browser.press("n")
    browser.press("n")
    assert browser.evaluate("document.activeElement.id") == "turn-2"
    browser.press("/")
    browser.type("not now")
    assert browser.evaluate(NAMES) == ["wipe", "wipe"]
    assert browser.evaluate("document.getElementById('found').value") == "2 of 7 steps"
    assert browser.evaluate(
        "[...document.querySelectorAll('mark')].map(each => each.innerText)"
    ) == [
        "not now",
        "not now",
    ]
    browser.press("Escape")
    assert (len(browser.evaluate(NAMES)), browser.evaluate(OPEN)) == (7, 0)
    browser.press("o")
    assert browser.evaluate(OPEN) == 7
    shown = browser.evaluate(
        "[...document.querySelectorAll('.step')][1].querySelector('.body').innerText"
    )
    assert shown == 'arguments\n{\n  "prompt": "Look"\n}\nresult\nAll is well.'
    browser.press("o")
    theme = "getComputedStyle(document.body).backgroundColor"
    light = browser.evaluate(theme)
    browser.press("t")
    assert browser.evaluate(theme) != light
    browser.press("t")
    assert (browser.evaluate(theme), browser.problems) == (light, [])
