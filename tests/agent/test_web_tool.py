"""`tools=["tool-web"]`: who is asked about which host, and the search of the model's service."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent, Question, ScriptedProvider
from amplifier_core import ApprovalResponse, ModuleCoordinator
from amplifier_core.message_models import ChatRequest
from amplifier_modules.tools import web as tool_web
from amplifier_providers.anthropic.config import read_config as read_anthropic
from amplifier_providers.anthropic.provider import AnthropicProvider
from amplifier_providers.openai.config import read_config as read_openai
from amplifier_providers.openai.provider import OpenAIProvider

sys.path.insert(0, str(Path(__file__).parents[1] / "modules" / "tool_web"))

from web_server import WebServer, serve

YES = ApprovalResponse(approved=True)
SESSION = ApprovalResponse(approved=True, remember=True)


@pytest.fixture(scope="module")
def shared_web() -> Iterator[WebServer]:
    with serve() as web:
        yield web


@pytest.fixture
def web(shared_web: WebServer) -> WebServer:
    shared_web.requests.clear()
    for path in "ab":
        shared_web.put(f"/{path}", path)
    return shared_web


class Person:
    """Answers, and notes what was asked."""

    def __init__(self, answer: Any = YES) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def __call__(self, question: Question) -> Any:
        self.asked.append(question.action)
        return self.answer


def web_agent(
    web: WebServer, *urls: str, config: dict[str, Any] | None = None, **options: Any
) -> tuple[Agent[Any], ScriptedProvider]:
    calls = [{"tool": "web_fetch", "arguments": {"url": url}} for url in urls]
    model = ScriptedProvider([*calls, "Done."])
    given = {"private_addresses": True, "ports": [web.port], **(config or {})}
    return Agent(model, tools=[{"module": "tool-web", "config": given}], **options), model


def approvals(mode: str, **config: Any) -> list[dict[str, Any]]:
    return [{"module": "hooks-approval", "config": {"mode": mode, **config}}]


def contents(model: ScriptedProvider) -> list[str]:
    """What the calls have returned: the text of the page, or all of an error."""
    found: list[str] = []
    for message in model.requests[-1].messages:
        if message.role == "tool":
            text = str(message.content)
            found.append(json.loads(text)["content"] if text.startswith("{") else text)
    return found


# Holds: web-5
@pytest.mark.parametrize("mode", [None, "auto", "ask", "review", "plan", "read-only"])
async def test_a_person_is_asked_about_each_call_in_every_mode(
    web: WebServer, mode: str | None
) -> None:
    person = Person()
    hooks = [] if mode is None else approvals(mode)
    agent, model = web_agent(web, web.url("/a"), web.url("/b"), hooks=hooks, approvals=person)
    await agent.run("Look")
    rows = [f"run `web_fetch`?\n| `url`: `{web.url(path)}`" for path in ("/a", "/b")]
    assert person.asked == rows
    assert contents(model) == ["a", "b"]


# Holds: web-5
async def test_a_yes_for_the_session_is_about_the_host(web: WebServer) -> None:
    person = Person(SESSION)
    urls = [web.url("/a"), web.url("/b"), web.url("/a", "localhost"), web.url("/b", "localhost")]
    agent, model = web_agent(web, *urls, hooks=approvals("auto"), approvals=person)
    await agent.run("Look")
    assert [each.rpartition("/")[0].rpartition("/")[2] for each in person.asked] == [
        f"127.0.0.1:{web.port}",
        f"localhost:{web.port}",
    ]
    assert contents(model) == ["a", "b", "a", "b"]


# Holds: web-5
@pytest.mark.parametrize(
    ("rules", "config", "asked", "result"),
    [
        ({"allow": ["WebFetch(domain:127.0.0.1)"]}, {}, 0, "a"),
        ({"allow": ["WebFetch"]}, {}, 0, "a"),
        ({"allow": ["WebFetch(domain:example.com)"]}, {}, 1, "a"),
        ({"deny": ["WebFetch(domain:127.0.0.1)"]}, {"domains": ["127.0.0.1"]}, 0, "denies it"),
        ({"ask": ["WebFetch"]}, {"domains": ["127.0.0.1"]}, 1, "a"),
        ({}, {"domains": ["127.0.0.1"]}, 0, "a"),
        ({}, {"domains": ["*.0.0.1"]}, 0, "a"),
        ({}, {"domains": ["0.0.1"]}, 1, "a"),
    ],
)
async def test_rules_and_domains_say_who_is_not_asked(
    web: WebServer, rules: Any, config: Any, asked: int, result: str
) -> None:
    person = Person()
    hooks = approvals("ask", **rules)
    agent, model = web_agent(web, web.url("/a"), config=config, hooks=hooks, approvals=person)
    await agent.run("Look")
    assert len(person.asked) == asked
    assert result in contents(model)[0]


# Holds: web-5
async def test_where_nobody_can_be_asked_nothing_is_read(web: WebServer) -> None:
    agent, model = web_agent(web, web.url("/a"))
    await agent.run("Look")
    assert contents(model) == ["Denied by hook: No approval system available"]
    assert web.requests == []


# Holds: web-6
async def test_an_address_with_a_key_of_the_application_is_refused(web: WebServer) -> None:
    key = "sk-ant-api03-" + "Zk4vQ9xT2mLr7wYc8Np3" * 4
    agent, model = web_agent(web, web.url(f"/a?{key}"), config={"domains": ["127.0.0.1"]})
    async with agent.session() as session:
        from amplifier_guard import Redactor

        redactor = Redactor(secrets=[key])
        session.session.coordinator.register_capability("guard.redactor", redactor)
        await session.run("Look")
    assert "it is not read" in contents(model)[0]
    assert web.requests == []


# Holds: web-7
@pytest.mark.parametrize(
    ("config", "tools"),
    [
        ({}, [{"type": "web_search_20250305", "name": "web_search"}]),
        ({"tools": [{"type": "web_search_9", "name": "web_search"}]}, [{"type": "web_search_9", "name": "web_search"}]),
    ],
)  # fmt: skip
async def test_anthropic_offers_its_own_search(config: Any, tools: Any) -> None:
    settings = read_anthropic({"api_key": "k", **config}, {})
    assert settings is not None
    provider = AnthropicProvider(settings)
    await offer(provider)
    [sent] = encode(provider)["tools"]
    assert [{name: each for name, each in sent.items() if name != "cache_control"}] == tools


# Holds: web-7
@pytest.mark.parametrize("own", [{"type": "web_search"}, {"type": "web_search_preview"}])
async def test_openai_offers_its_own_search(own: Any) -> None:
    config = {} if own["type"] == "web_search" else {"tools": [own]}
    settings = read_openai({"api_key": "k", **config}, {})
    assert settings is not None
    provider = OpenAIProvider(settings)
    await offer(provider)
    assert encode(provider)["tools"] == [own]


# Holds: web-7
async def test_a_provider_without_a_search_is_named(
    web: WebServer, caplog: pytest.LogCaptureFixture
) -> None:
    agent, model = web_agent(web, config={"web_search": True})
    with caplog.at_level(logging.WARNING):
        await agent.run("Look")
    assert [tool.name for tool in model.requests[0].tools or ()] == ["web_fetch"]
    name = "the provider `scripted` has no search of its own: there is none"
    assert [each.getMessage() for each in caplog.records] == [f"tool-web: {name}"]


# Holds: web-8
def test_mounting_imports_neither_the_library_nor_the_client() -> None:
    program = (
        "import sys, amplifier_modules.tools.web\n"
        "late = {'html_to_markdown', 'httpx2', 'pypdf'} & set(sys.modules)\n"
        "sys.exit(' '.join(late) or None)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


async def offer(provider: Any) -> None:
    coordinator = ModuleCoordinator()
    await coordinator.mount("providers", provider, name="own")
    await tool_web.mount(coordinator, {"web_search": True})
    await coordinator.hooks.emit("prompt:submit", {"prompt": "Look"})


def encode(provider: Any) -> dict[str, Any]:
    request = ChatRequest.model_validate({"messages": [{"role": "user", "content": "Look"}]})
    return provider.wire_format.encode(request).fields
