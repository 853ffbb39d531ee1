"""Servers that count their connections, plain and with TLS."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from .counting_server import CountingServer, counting_server, make_certificate


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, Path]:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def tls_server(
    certificate: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch
) -> Iterator[CountingServer]:
    context, authority = certificate
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    with counting_server(context) as server:
        yield server


@pytest.fixture
def server() -> Iterator[CountingServer]:
    with counting_server() as server:
        yield server
