"""Programs that know proxies reach what is allowed, and show why they do not reach the rest."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator

import httpx2
import pytest
from proxy_setup import Setup, list_server, start_proxy

from amplifier_modules.sandbox.proxy import proxy_environment
from amplifier_testing.servers.serving.http import Reply
from amplifier_testing.servers.serving.recording import RecordingServer

REFUSAL = "the host `evil.example` is not among those that `network` names"
PYTHON = """
import sys, urllib.error, urllib.request
try:
    print(urllib.request.urlopen(sys.argv[1]).read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
except OSError as error:
    print(error)
"""


def anonymous(purpose: int) -> ssl.SSLContext:
    """TLS without certificates, which needs no key on either side."""
    context = ssl.SSLContext(purpose)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("AECDH-AES256-SHA:@SECLEVEL=0")
    return context


@pytest.fixture
def encrypted() -> Iterator[RecordingServer]:
    with RecordingServer(ssl_context=anonymous(ssl.PROTOCOL_TLS_SERVER)) as server:
        server.respond(Reply.of(b"secret page", "text/plain"))
        yield server


@pytest.fixture
def setup(http_server: RecordingServer, encrypted: RecordingServer) -> Iterator[Setup]:
    http_server.respond(Reply.of(b"page", "text/plain"))
    entries = [*list_server(http_server.port), *list_server(encrypted.port)]
    with start_proxy(entries) as made:
        yield made


def run(setup: Setup, *command: str) -> str:
    done = subprocess.run(
        command,
        check=False,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", **proxy_environment(setup.port)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    return done.stdout


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"there is no `{program}`")


# Holds: sandbox-39
@needs("curl")
def test_curl_reaches_what_is_allowed(
    setup: Setup, http_server: RecordingServer, encrypted: RecordingServer
) -> None:
    plain = run(setup, "curl", "-sS", f"http://shop.example:{http_server.port}/")
    tunnel = run(
        setup, "curl", "-sSk", "--ciphers", "AECDH-AES256-SHA:@SECLEVEL=0", "--tls-max", "1.2",
        f"https://shop.example:{encrypted.port}/",
    )  # fmt: skip

    assert (plain, tunnel) == ("page", "secret page")


# Holds: sandbox-33, sandbox-39
@needs("curl")
def test_curl_shows_why_a_host_is_refused(setup: Setup) -> None:
    assert REFUSAL in run(setup, "curl", "-sS", "http://evil.example/")
    assert "403" in run(setup, "curl", "-sS", "https://evil.example/")
    assert "403 evil.example is not allowed" in run(setup, "curl", "-v", "https://evil.example/")


# Holds: sandbox-39
@needs("curl")
def test_curl_sends_a_large_body(setup: Setup, http_server: RecordingServer) -> None:
    url = f"http://shop.example:{http_server.port}/"
    body = "x" * 3_000_000
    sent = subprocess.run(
        ["curl", "-sS", "--data-binary", "@-", "--proxy", setup.url, url],
        input=body,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert sent.stdout == "page"
    assert [len(request.raw) for request in http_server.requests] == [len(body)]


# Holds: sandbox-33, sandbox-39
def test_python_reaches_what_is_allowed_and_shows_why_the_rest_is_not(
    setup: Setup, http_server: RecordingServer
) -> None:
    fetch = (sys.executable, "-I", "-c", PYTHON)

    assert run(setup, *fetch, f"http://shop.example:{http_server.port}/") == "page\n"
    assert REFUSAL in run(setup, *fetch, "http://evil.example/")
    refused = run(setup, *fetch, "https://evil.example/")
    assert "Tunnel connection failed: 403 evil.example is not allowed" in refused


# Holds: sandbox-39
async def test_httpx_reaches_what_is_allowed(
    setup: Setup, http_server: RecordingServer, encrypted: RecordingServer
) -> None:
    trusted = anonymous(ssl.PROTOCOL_TLS_CLIENT)
    trusted.check_hostname = False
    trusted.verify_mode = ssl.CERT_NONE
    async with httpx2.AsyncClient(proxy=setup.url, verify=trusted) as client:
        for _ in range(2):
            plain = await client.get(f"http://shop.example:{http_server.port}/")
            assert plain.text == "page"
        tunnel = await client.get(f"https://shop.example:{encrypted.port}/")
        assert tunnel.text == "secret page"
        refused = await client.get("http://evil.example/")
        assert (refused.status_code, refused.text[: len(REFUSAL)]) == (403, REFUSAL)
        with pytest.raises(httpx2.ProxyError, match=r"403 evil\.example is not allowed"):
            await client.get("https://evil.example/")
