"""The pages that a session has read lately."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from amplifier_core import world

from .pages import Page

KEPT_SECONDS = 15 * 60.0
MAX_PAGES = 32
MAX_CHARS = 16 * 2**20


@dataclass(frozen=True)
class _Kept:
    page: Page
    end: float

    @property
    def size(self) -> int:
        block = self.page.image or {}
        return len(self.page.text) + len(str(block.get("source", "")))


class KeptPages:
    """Keeps pages for a while, the latest ones."""

    def __init__(self, clock: Callable[[], float] = world.monotonic) -> None:
        """Keep none yet; `clock` says how old they are."""
        self._clock = clock
        self._pages: dict[str, _Kept] = {}

    def find(self, url: str) -> Page | None:
        """Return the page of an address; None where it is not kept, or not any more."""
        self._drop_old()
        kept = self._pages.get(_drop_fragment(url))
        return None if kept is None else kept.page

    def keep(self, url: str, page: Page) -> None:
        """Keep the page of an address."""
        self._drop_old()
        key = _drop_fragment(url)
        self._pages.pop(key, None)
        self._pages[key] = _Kept(page, self._clock() + KEPT_SECONDS)
        while len(self._pages) > MAX_PAGES or self._count() > MAX_CHARS:
            del self._pages[next(iter(self._pages))]

    def _count(self) -> int:
        return sum(each.size for each in self._pages.values())

    def _drop_old(self) -> None:
        now = self._clock()
        self._pages = {url: each for url, each in self._pages.items() if each.end > now}


def _drop_fragment(url: str) -> str:
    return url.partition("#")[0]
