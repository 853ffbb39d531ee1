"""Sessions that one provider begins and another goes on with, against the strict servers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from amplifier_agent import Agent, hook, tool
from amplifier_providers.openai_chat import PRESETS
from amplifier_testing.servers import (
    Answer,
    AnthropicServer,
    Call,
    ChatServer,
    ModelServer,
    OllamaServer,
    ResponsesServer,
    Thinking,
)
from amplifier_testing.servers.chat.presets import PRESETS as JUDGED

_PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABXvMqOgAAAABJ"
    "RU5ErkJggg=="
)
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _PIXEL}}
FACTS = ("I am Ada.", "Let me look.", "seen at a", "seen at b", "Both were seen.")
"""What was said in the session, in words."""


@dataclass(frozen=True)
class Side:
    """A provider, and the server that it asks."""

    module: str
    serve: Callable[[], ModelServer]
    configure: Callable[[ModelServer], dict[str, Any]]

    @property
    def writer(self) -> str:
        """As what its provider is known."""
        return self.module.removeprefix("provider-")


@dataclass(frozen=True)
class GoneOn:
    """How a provider went on with a session."""

    left_out: dict[str, bool]
    """What of the session was not sent, by how it is named, and whether it was named."""
    missing: list[str]
    """What was said in words, and was not sent."""


def _at(server: ModelServer, **config: Any) -> dict[str, Any]:
    return {"api_key": "k", "base_url": server.url, **config}


def _serve_responses() -> ModelServer:
    return ResponsesServer(deployments={"gpt-5.5": "gpt-5.5"})


def _configure_azure(server: Any) -> dict[str, Any]:
    return {"api_key": "k", "endpoint": server.azure_url, "default_deployment": "gpt-5.5"}


def _configure_ollama(server: ModelServer, **config: Any) -> dict[str, Any]:
    given = {"host": server.url, "default_model": "qwen3-vl:8b", "enable_thinking": True}
    return {**given, **config}


def _serve_chat(preset: str) -> ModelServer:
    return ChatServer(preset=preset if preset in JUDGED else "template")


SIDES: dict[str, Side] = {
    "anthropic": Side("provider-anthropic", AnthropicServer, partial(_at, reasoning_effort="low")),
    "openai": Side("provider-openai", _serve_responses, _at),
    "azure-openai": Side("provider-azure-openai", _serve_responses, _configure_azure),
    "ollama": Side("provider-ollama", OllamaServer, _configure_ollama),
    "ollama at /v1": Side(
        "provider-ollama", OllamaServer, partial(_configure_ollama, api="openai")
    ),
    "openai-chat": Side(
        "provider-openai-chat",
        partial(_serve_chat, "openai"),
        partial(_at, default_model="gpt-4.1"),
    ),
    **{
        name: Side(f"provider-{name}", partial(_serve_chat, name), partial(_at, default_model="m"))
        for name in PRESETS
        if name != "openai-chat"
    },
}
WIRE_FORMATS = ("anthropic", "openai", "ollama", "openai-chat", "mistral", "deepseek")
"""One of each; the others write as one of these does."""


@tool
def look(at: str) -> str:
    """Look."""
    return f"seen at {at}"


@contextmanager
def go_on_elsewhere(folder: Path) -> Iterator[Callable[[str, str], Any]]:
    """Return what lets one provider begin a session and another go on with it."""
    with ExitStack() as running:
        servers: dict[str, ModelServer] = {}

        def serve(name: str) -> ModelServer:
            if name not in servers:
                servers[name] = running.enter_context(SIDES[name].serve())
            return servers[name]

        async def go_on(first: str, second: str) -> GoneOn:
            id = f"{first} and {second}"
            given = [{"role": "user", "content": [{"type": "text", "text": "This."}, IMAGE]}]
            given.append({"role": "assistant", "content": "A pixel."})
            begun = await _run(serve(first), first, folder, id, "I am Ada.", messages=given)
            went_on = await _run(serve(second), second, folder, id, "Go on.")
            return _compare(SIDES[first], SIDES[second], begun, went_on)

        yield go_on
        refused = {name: server.refusals for name, server in servers.items() if server.refusals}
        assert refused == {}


@dataclass(frozen=True)
class _Turn:
    asked: str
    """The first request."""
    degradations: list[dict[str, Any]]
    """What that request could not have."""
    messages: list[dict[str, Any]]
    """The history after the turn."""


def _compare(first: Side, second: Side, begun: _Turn, went_on: _Turn) -> GoneOn:
    named = [each["requested"] for each in went_on.degradations]
    left_out: dict[str, bool] = {}
    blocks = [block for each in begun.messages for block in each["content"]]
    has_thoughts = any(isinstance(each, dict) and each["type"] == "thinking" for each in blocks)
    if has_thoughts and first.module != second.module:
        thoughts = f"thinking of `{first.writer}`"
        left_out[thoughts] = thoughts in named
    if _PIXEL not in went_on.asked:
        image = "content blocks `image`"
        left_out[image] = image in named
    return GoneOn(left_out, [fact for fact in FACTS if fact not in went_on.asked])


async def _run(
    server: ModelServer, name: str, folder: Path, id: str, prompt: str, **options: Any
) -> _Turn:
    side = SIDES[name]
    named: list[list[dict[str, Any]]] = []

    @hook("provider:response")
    def note(event: str, data: dict[str, Any]) -> None:
        del event
        response = data["response"]
        every = (response.get("metadata") or {}).get("degradations")
        named.append(every or [each for each in [response.get("degradation")] if each])

    calls = (Call("look", {"at": "a"}), Call("look", {"at": "b"}))
    server.answers = [
        Answer(Thinking("Hm."), "Let me look.", *calls),
        Answer(Thinking("So."), "Both were seen."),
    ]
    before = len(server.requests)
    agent = Agent(
        plan={"providers": [{"module": side.module, "config": side.configure(server)}]},
        tools=[look],
        hooks=[note],
        store={"module": "store-sqlite", "config": {"folder": str(folder)}},
    )
    async with agent.session(session_id=id, **options) as session:
        result = await session.run(prompt)
    assert (result.status, result.text) == ("completed", "Both were seen."), name
    asked = json.dumps(server.requests[before].body)
    return _Turn(asked, named[0], [dict(each) for each in result.messages])
