"""A lookup of a model that goes wrong stops no call that could be answered, and delays none for long."""

from __future__ import annotations

import gzip
from typing import Any

import anyio
import pytest

from amplifier_core import llm_errors
from amplifier_core.message_models import ChatRequest, Message
from amplifier_providers.ollama import models
from amplifier_testing.servers import Answer, Fault, OllamaServer

# A body that is left has generators that nobody closes, the innermost of httpx2; trio says so.
pytestmark = pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")

REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])
HANGS = 20
BOMB = gzip.compress(b" " * 30_000_000)
PACKED = {"content-encoding": "gzip"}
AWAY = Fault(status=307, headers={"location": "https://example.com/?key=k"})
PATHS = {"native": "/api/chat", "openai": "/v1/chat/completions"}


@pytest.fixture
def server(server: OllamaServer) -> OllamaServer:
    """A server whose faults befall lookups too."""
    server.lookup_paths = ()
    server.answers = [Answer("One"), Answer("Two")]
    return server


def asked(server: OllamaServer) -> list[str]:
    return [seen.path for seen in server.requests]


PASSING = {
    "an error": Fault(status=500),
    "a packed error": Fault(status=500, headers=PACKED, body=BOMB),
    "a limit": Fault(status=429),
    "no connection": Fault(hang_up=True),
    "a broken body": Fault(cut=20),
    "a challenge": Fault(status=403, headers={"cf-mitigated": "challenge"}),
}
"""What may be over when the next call is made."""
ENDLESS = {
    "an error without end": Fault(status=503, stall=20),
    "no answer": Fault(silent=True),
    "no end": Fault(stall=20),
    "a slow end": Fault(piece=1, pause=0.1),
}
"""What is waited for no longer than a lookup may take."""
LASTING = {
    "a bomb": Fault(status=201, headers=PACKED, body=BOMB),
    "an encoding nobody asked for": Fault(headers={"content-encoding": "gzip, gzip"}),
    "other content": Fault(malformed=0),
    "no such path": Fault(status=404),
}
"""What shows a server that does not describe its models."""


@pytest.mark.parametrize("api", PATHS)
@pytest.mark.parametrize("name", [*PASSING, *ENDLESS, *LASTING])
async def test_a_call_is_answered_whatever_the_lookup_says(
    server: OllamaServer,
    provider_with: Any,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    api: str,
) -> None:
    if name in ENDLESS:
        monkeypatch.setattr(models, "LEARN_SECONDS", 0.2)
    server.faults = [(PASSING | ENDLESS | LASTING)[name]]
    provider = provider_with(api=api)
    with anyio.fail_after(HANGS):
        responses = [await provider.complete(REQUEST) for _ in range(2)]
    assert [response.text for response in responses] == ["One", "Two"]
    again = ["/api/show"] if name not in LASTING else []
    assert asked(server) == ["/api/show", PATHS[api], *again, PATHS[api]]


async def test_a_lookup_takes_no_longer_than_the_request_may(
    server: OllamaServer, provider_with: Any
) -> None:
    server.faults = [Fault(silent=True), Fault(silent=True)]
    request = REQUEST.model_copy(update={"timeout": 0.2})
    with anyio.fail_after(5), pytest.raises(llm_errors.LLMTimeoutError, match=r"within 0\.2 s"):
        await provider_with(timeout=300).complete(request)
    assert asked(server) == ["/api/show", "/api/chat"]


@pytest.mark.parametrize("limit", ["timeout", "content_timeout"])
async def test_a_lookup_takes_no_longer_than_the_call_may(
    server: OllamaServer, provider_with: Any, limit: str
) -> None:
    server.faults = [Fault(silent=True), Fault(silent=True)]
    with anyio.fail_after(5), pytest.raises(llm_errors.LLMTimeoutError, match=r"within 0\.2 s"):
        await provider_with(**{"timeout": 300, limit: 0.2}).complete(REQUEST)
    assert asked(server) == ["/api/show", "/api/chat"]


async def test_a_redirect_of_a_lookup_ends_the_call(
    server: OllamaServer, provider_with: Any
) -> None:
    server.faults = [AWAY, AWAY]
    provider = provider_with(max_retries=2)
    for _ in range(2):
        with pytest.raises(llm_errors.ConfigurationError) as caught:
            await provider.complete(REQUEST)
        assert f"`{server.url}/api/show` answered with status 307" in str(caught.value)
        assert caught.value.hint == "set `OLLAMA_HOST` to the final address"
        assert caught.value.__notes__ == [f"hint: {caught.value.hint}"]
    assert asked(server) == ["/api/show"] * 2


async def test_a_server_of_chat_completions_alone_may_redirect_lookups(
    server: OllamaServer, provider_with: Any
) -> None:
    server.faults = [AWAY]
    provider = provider_with(api="openai")
    for _ in range(2):
        await provider.complete(REQUEST)
    assert asked(server) == ["/api/show", *[PATHS["openai"]] * 2]
