"""The web server of these tests, and the tool that reads from it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from web_server import WebServer, serve

from amplifier_modules.tools.web import WebFetch, WebSettings


@pytest.fixture(scope="module")
def shared_web() -> Iterator[WebServer]:
    with serve() as web:
        yield web


@pytest.fixture
def web(shared_web: WebServer) -> WebServer:
    shared_web.pages.clear()
    shared_web.requests.clear()
    return shared_web


@pytest.fixture
def fetcher(web: WebServer) -> Callable[..., WebFetch]:
    """Return a tool that may read from the server."""

    def make(**settings: Any) -> WebFetch:
        given = {"ports": [web.port], "private_addresses": True, **settings}
        return WebFetch(WebSettings.model_validate(given))

    return make
