"""Calls of models on Azure: where they go, who asks, and what is the same as with OpenAI."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from responses_wire import Answer, Server, message, reasoning, response

from amplifier_core import ModuleCoordinator
from amplifier_core.llm_errors import (
    AuthenticationError,
    ConfigurationError,
    ContentFilterError,
    NotFoundError,
    RateLimitError,
)
from amplifier_core.message_models import ChatRequest, Message
from amplifier_providers import azure_openai
from amplifier_providers.azure_openai import AzureOpenAIProvider
from amplifier_providers.azure_openai.identity import SCOPE, Tokens

KEY = "azure-very-secret"
REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])

Make = Callable[..., AzureOpenAIProvider]


@dataclass
class Fake:
    """A credential that counts its tokens."""

    lifetime: int = 3_600
    now: int = 1_000
    error: Exception | None = None
    asked: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    threads: set[int] = field(default_factory=set[int])

    def get_token(self, *scopes: str) -> Any:
        self.asked.append(scopes)
        self.threads.add(threading.get_ident())
        if self.error:
            raise self.error
        ends = self.now + self.lifetime
        return SimpleNamespace(token=f"token-{len(self.asked)}-secret", expires_on=ends)


async def test_a_call_names_its_deployment_and_has_the_key(server: Server, make: Make) -> None:
    server.answers = [Answer.of(reasoning(), message("Hello"))]
    provider = make(default_deployment="gpt-5-prod", api_version="preview")

    answer = await provider.complete(REQUEST)

    (asked,) = server.asked
    assert asked.path == "/openai/v1/responses?api-version=preview"
    assert asked.headers["api-key"] == KEY
    assert "authorization" not in asked.headers
    assert asked.body["model"] == "gpt-5-prod"
    assert asked.body["include"] == ["reasoning.encrypted_content"]
    known = answer.metadata or {}
    assert (known["provider"], known["requested_model"]) == ("azure-openai", "gpt-5-prod")


async def test_the_model_behind_a_deployment_says_what_it_can_do(
    server: Server, make: Make
) -> None:
    for family, reasons in ((None, False), ("gpt-5.5", True), ("gpt-4.1", False)):
        server.answers = [Answer.of(message("Hello"))]
        provider = make(default_deployment="prod", model_family=family)
        await provider.complete(REQUEST)
        assert ("reasoning" in server.bodies[-1]) is reasons
        assert server.bodies[-1]["model"] == "prod"
        assert ("thinking" in provider.get_info().capabilities) is reasons


async def test_reasoning_goes_back_to_the_deployment_that_wrote_it(
    server: Server, make: Make
) -> None:
    server.answers = [Answer.of(reasoning(), message("Hello")) for _ in range(3)]
    provider = make(default_deployment="prod", model_family="gpt-5.5")
    answer = await provider.complete(REQUEST)
    said = Message(role="assistant", content=answer.content, metadata=answer.metadata)
    again = ChatRequest(messages=[*REQUEST.messages, said, *REQUEST.messages])
    await provider.complete(again)
    await provider.complete(again, model="other")
    of_same, of_other = ([item.get("type") for item in body["input"]] for body in server.bodies[1:])
    assert of_same == [None, "reasoning", "message", None]
    assert of_other == [None, "message", None]


async def test_tokens_are_fetched_in_a_thread_and_kept_until_they_end(
    server: Server, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = Fake(now=10**12)  # far from over
    provider = make(credential=fake, api_key=None, use_default_credential=True)
    server.answers = [Answer.of(message("Hello")), Answer.of(message("Hello"))]
    await provider.complete(REQUEST)
    await provider.complete(REQUEST)

    tokens = [asked.headers["authorization"] for asked in server.asked]
    assert tokens == ["Bearer token-1-secret"] * 2
    assert not any("api-key" in asked.headers for asked in server.asked)
    assert fake.asked == [(SCOPE,)]
    assert fake.threads != {threading.get_ident()}


async def test_a_token_that_ends_soon_is_fetched_anew() -> None:
    fake, hidden = Fake(now=1_000, lifetime=600), list[str]()
    tokens = Tokens(fake, hidden.append, clock=lambda: fake.now)
    first = await tokens.get_token()
    fake.now += 300
    assert await tokens.get_token() == first
    fake.now += 1
    assert await tokens.get_token() == "token-2-secret"
    assert hidden == ["token-1-secret", "token-2-secret"]


async def test_without_a_token_nothing_is_asked(server: Server, make: Make) -> None:
    fake = Fake(error=RuntimeError("Please run 'az login'.\nAnd more."))
    with pytest.raises(AuthenticationError, match="no token of Entra ID: Please run") as caught:
        await make(credential=fake, api_key=None, use_default_credential=True).complete(REQUEST)
    assert "And more" not in str(caught.value)
    assert "`az login`" in str(caught.value.hint)
    assert server.asked == []


async def test_a_token_that_the_server_echoes_is_not_shown(server: Server, make: Make) -> None:
    server.answers = [Answer.refused(401, "401", "The token token-1-secret is bad.")]
    provider = make(credential=Fake(now=10**12), api_key=None, use_default_credential=True)
    with pytest.raises(AuthenticationError) as caught:
        await provider.complete(REQUEST)
    assert "token-1-secret" not in str(caught.value)


@pytest.fixture
def identity(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """A package `azure.identity` that keeps which credentials were made."""
    made: list[tuple[str, dict[str, Any]]] = []
    module = ModuleType("azure.identity")

    def maker(name: str) -> Callable[..., Fake]:
        def make(**options: Any) -> Fake:
            made.append((name, options))
            return Fake(now=10**12)

        return make

    for name in ("ManagedIdentityCredential", "DefaultAzureCredential"):
        setattr(module, name, maker(name))
    monkeypatch.setitem(sys.modules, "azure", ModuleType("azure"))
    monkeypatch.setitem(sys.modules, "azure.identity", module)
    return made


@pytest.mark.parametrize(
    ("config", "made"),
    [
        (
            {"use_managed_identity": True},
            [("ManagedIdentityCredential", {"client_id": None})],
        ),
        (
            {"use_managed_identity": True, "managed_identity_client_id": "id"},
            [("ManagedIdentityCredential", {"client_id": "id"})],
        ),
        (
            {"use_default_credential": True},
            [("DefaultAzureCredential", {"exclude_managed_identity_credential": True})],
        ),
        ({"use_default_credential": True, "api_key": KEY}, []),
    ],
)
async def test_the_settings_say_who_asks_and_a_key_goes_first(
    server: Server,
    identity: list[tuple[str, dict[str, Any]]],
    config: dict[str, Any],
    made: list[tuple[str, dict[str, Any]]],
) -> None:
    coordinator = ModuleCoordinator()
    close = await azure_openai.mount(coordinator, {"endpoint": server.url, **config})
    assert close is not None
    server.answers = [Answer.of(message("Hello"))]
    await coordinator.get("providers")["azure-openai"].complete(REQUEST)
    assert identity == made
    assert ("api-key" in server.asked[0].headers) is (not made)
    await close()


async def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "azure.identity", None)
    config = {"endpoint": "https://res.openai.azure.com", "use_managed_identity": True}
    with pytest.raises(ConfigurationError, match=r"needs `azure-identity` \(the extra `azure`\)"):
        await azure_openai.mount(ModuleCoordinator(), config)


async def test_a_compaction_ends_the_chain(server: Server) -> None:
    coordinator = ModuleCoordinator()
    config = {"endpoint": server.url, "api_key": KEY, "enable_state": True}
    close = await azure_openai.mount(coordinator, config)
    assert close is not None
    provider: AzureOpenAIProvider = coordinator.get("providers")["azure-openai"]
    messages, previous = list(REQUEST.messages), list[Any]()
    for turn in range(4):
        server.answers = [Answer.of(message("Hello"), id=f"resp_{turn}")]
        answer = await provider.complete(ChatRequest(messages=messages))
        previous.append(server.bodies[-1].get("previous_response_id"))
        said = Message(role="assistant", content=answer.content, metadata=answer.metadata)
        messages = [*messages, said, Message(role="user", content="more")]
        if turn == 1:
            await coordinator.hooks.emit("context:compaction", {})
    assert previous == [None, "resp_0", None, "resp_2"]
    await close()


async def test_background_answers_and_lists_of_models_have_the_version_too(
    server: Server, make: Make
) -> None:
    provider = make(background=True, poll_interval=0.001, api_version="preview")
    server.answers = [
        Answer.json(response(status="queued")),
        Answer.json(response(message("Hello"))),
        Answer.json({"data": [{"id": "gpt-5.5"}]}),
    ]
    await provider.complete(REQUEST)
    await provider.list_models()
    assert [asked.path for asked in server.asked] == [
        "/openai/v1/responses?api-version=preview",
        "/openai/v1/responses/resp_1?api-version=preview",
        "/openai/v1/models?api-version=preview",
    ]


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (401, {"code": "401", "message": "Access denied due to invalid key."}, AuthenticationError),
        (404, {"code": "DeploymentNotFound", "message": "No such deployment."}, NotFoundError),
        (429, {"code": "RateLimitReached", "message": "Slow.", "details": "text"}, RateLimitError),
        (
            400,
            {
                "code": "content_filter",
                "message": "The prompt was filtered.",
                "innererror": {"code": "ResponsibleAIPolicyViolation"},
            },
            ContentFilterError,
        ),
    ],
)
async def test_the_errors_of_azure_are_of_their_kind(
    server: Server, make: Make, status: int, error: dict[str, Any], kind: type[Exception]
) -> None:
    server.answers = [Answer.json({"error": error}, status)]
    with pytest.raises(kind) as caught:
        await make().complete(REQUEST)
    assert type(caught.value) is kind
    assert error["message"] in str(caught.value)


async def test_a_recorded_stream_of_azure_becomes_its_record(server: Server, make: Make) -> None:
    folder = os.environ.get("RECORDED_STREAMS")
    if not folder:
        pytest.skip("`RECORDED_STREAMS` names no folder with recorded streams")
    server.answers = [Answer((Path(folder) / "azure-responses-tool-call.sse").read_bytes())]
    provider = make(default_deployment="prod")
    answer = await provider.complete(REQUEST)
    (call,) = provider.parse_tool_calls(answer)
    assert (call.name, call.arguments) == ("weather", {"location": "San Francisco"})
    assert answer.finish_reason == "tool_use"
    assert (answer.metadata or {})["details"]["content_filters"]
