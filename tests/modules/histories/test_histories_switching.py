"""Conversations that go from provider to provider and are edited on their way are never refused.

What is sent back are the answers of the strict servers themselves: their signatures, their encrypted
reasoning, their ids, and the stored responses that requests go on with.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from functools import partial
from typing import Any

import anyio
import conversations as random
import pytest
from hypothesis import given
from hypothesis import strategies as st
from writers import EVERYBODY

from amplifier_core.llm_errors import InvalidRequestError
from amplifier_core.message_models import ChatRequest, Message, ToolSpec
from amplifier_modules.loops.answers.response import assistant_message, calls_of
from amplifier_providers import anthropic, azure_openai, ollama, openai, openai_chat
from amplifier_providers.openai_chat.config import ChatConfig
from amplifier_testing.servers import (
    Answer,
    AnthropicServer,
    Call,
    ChatServer,
    ModelServer,
    OllamaServer,
    RedactedThinking,
    ResponsesServer,
    Text,
    Thinking,
)

TOOLS = [ToolSpec(name=name, parameters={}) for name in ("look", "rest", "mcp.server/tool")]
PARTS = st.lists(
    st.one_of(
        st.builds(Text, st.sampled_from(["So.", "Well, ", "half \U0001f600"])),
        st.builds(Thinking, st.sampled_from(["Hm.", "Why?"])),
        st.just(RedactedThinking()),
        st.builds(Call, st.sampled_from(["look", "rest"]), st.sampled_from([{}, {"at": "a"}])),
    ),
    min_size=1,
    max_size=4,
)


def _anthropic(url: str, **settings: Any) -> Any:
    config = anthropic.read_config({"api_key": "k", "base_url": url, **settings}, {})
    assert config is not None
    return anthropic.AnthropicProvider(config)


def _openai(url: str, **settings: Any) -> Any:
    config = openai.read_config({"api_key": "k", "base_url": url, **settings}, {})
    assert config is not None
    return openai.OpenAIProvider(config)


def _chat(preset: str, model: str) -> Callable[[str], Any]:
    def make(url: str) -> Any:
        given = {"preset": preset, "api_key": "k", "base_url": url, "default_model": model}
        config = openai_chat.read_config(given, {})
        assert isinstance(config, ChatConfig)
        return openai_chat.ChatProvider.of(config)

    return make


def _azure(url: str) -> Any:
    given = {"api_key": "k", "endpoint": url.removesuffix("/v1"), "default_deployment": "gpt-5.5"}
    config = azure_openai.read_config(given, {})
    assert isinstance(config, azure_openai.AzureOpenAIConfig)
    return azure_openai.AzureOpenAIProvider(config)


def _ollama(url: str, **settings: Any) -> Any:
    given = {"default_model": "qwen3-vl:8b", "enable_thinking": True, **settings}
    return ollama.OllamaProvider(ollama.read_config({"host": url, **given}, {}))


SERVERS: dict[str, Callable[[], ModelServer]] = {
    "anthropic": AnthropicServer,
    "openai": partial(ResponsesServer, deployments={"gpt-5.5": "gpt-5.5"}),
    "ollama": OllamaServer,
    **{
        name: partial(ChatServer, preset=name)
        for name in ("mistral", "deepseek", "openrouter", "template")
    },
}
PROVIDERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "anthropic": ("anthropic", partial(_anthropic, reasoning_effort="low")),
    "claude-4": (
        "anthropic",
        partial(_anthropic, default_model="claude-opus-4-1", reasoning_effort="low"),
    ),
    "openai": ("openai", _openai),
    "stored": ("openai", partial(_openai, enable_state=True)),
    "chained": ("openai", partial(_openai, enable_response_chaining=True)),
    "unchained": ("openai", partial(_openai, enable_state=True, enable_response_chaining=False)),
    "azure-openai": ("openai", _azure),
    "mistral": ("mistral", _chat("mistral", "magistral")),
    "deepseek": ("deepseek", _chat("deepseek", "deepseek-v4")),
    "openrouter": ("openrouter", _chat("openrouter", "a/b")),
    "vllm": ("template", _chat("vllm", "qwen")),
    "ollama": ("ollama", _ollama),
    "ollama at /v1": ("ollama", partial(_ollama, api="openai")),
}
"""The server of a provider, and how one is made that asks it."""


def _change(draw: st.DrawFn, message: Message) -> None:
    """Leave out, double, move or rewrite a block of a message, or write one before it."""
    blocks: Any = message.content
    if not isinstance(blocks, list) or not blocks:
        return
    place = draw(st.integers(0, len(blocks) - 1))  # pyright: ignore[reportUnknownArgumentType]
    block = blocks[place]
    kind = str(block["type"] if isinstance(block, dict) else block.type)
    match draw(st.sampled_from(CHANGES)):
        case "delete":
            del blocks[place]
        case "again":
            blocks.append(blocks[place])
        case "move":
            blocks.insert(0, blocks.pop(place))
        case "insert":
            new = Message(role="user", content=[{"type": "text", "text": "before"}])
            blocks.insert(place, new.content[0])
        case _ if kind == "text":
            blocks[place] = {"type": "text", "text": "rewritten"}
        case _:
            pass


CHANGES = ("delete", "again", "move", "insert", "rewrite")


async def _live(names: list[str], draw: st.DrawFn) -> None:
    """Let a conversation go on from request to request."""
    history: list[Message] = []
    with ExitStack() as running:
        async with AsyncExitStack() as open_providers:
            servers = {
                kind: running.enter_context(SERVERS[kind]())
                for kind in dict.fromkeys(PROVIDERS[name][0] for name in names)
            }
            known: dict[str, tuple[ModelServer, Any]] = {}
            for name in names:
                kind, make = PROVIDERS[name]
                known[name] = (servers[kind], make(servers[kind].url))
                open_providers.push_async_callback(known[name][1].close)
            for _ in range(draw(st.integers(2, 5))):
                server, provider = known[draw(st.sampled_from(names))]
                history.append(Message(role="user", content="Go on."))
                for _ in range(draw(st.sampled_from([1, 1, 2, 3]))):
                    await _ask(server, provider, history, draw)
                if draw(st.booleans()):
                    _edit(draw, history)


async def _ask(server: ModelServer, provider: Any, history: list[Message], draw: st.DrawFn) -> None:
    server.answers = [Answer(*draw(PARTS))]
    shown = [*history]
    if draw(st.booleans()):  # what a hook adds to one request
        shown.append(Message(role="user", content="(A note for this request.)"))
    try:
        response = await provider.complete(ChatRequest(messages=shown, tools=TOOLS))
    except InvalidRequestError as error:
        if not str(error).startswith("no message to send"):
            raise
        return
    calls = calls_of(provider, response)
    said = assistant_message(response, calls)
    if said is not None:
        history.append(Message.model_validate(said))
    done = [call for call in calls if draw(st.sampled_from([True, True, False]))]
    for call in draw(st.permutations(done)):
        text = draw(random.TEXTS)
        history.append(Message(role="tool", tool_call_id=call.id, content=text))


def _edit(draw: st.DrawFn, history: list[Message]) -> None:
    if history and draw(st.booleans()):
        _change(draw, draw(st.sampled_from(history)))
        return
    dicts: list[Any] = list(history)
    random.edit(draw, dicts, EVERYBODY)
    history[:] = [
        Message.model_construct(**each) if isinstance(each, dict) else each for each in dicts
    ]


@pytest.mark.parametrize("name", PROVIDERS)
@random.cases(20)
@given(data=st.data())
def test_no_provider_refuses_its_own_answers_after_edits(name: str, data: st.DataObject) -> None:
    anyio.run(_live, [name], data.draw)


FIVE = ("anthropic", "openai", "azure-openai", "vllm", "ollama")
"""One of each module."""


@pytest.mark.parametrize("other", [name for name in FIVE if name != "ollama"])
@random.cases(10)
@given(data=st.data())
def test_a_conversation_goes_to_ollama_and_back(other: str, data: st.DataObject) -> None:
    anyio.run(_live, [other, "ollama"], data.draw)


@random.cases(20)
@given(data=st.data())
def test_a_conversation_goes_round_among_all_of_them(data: st.DataObject) -> None:
    anyio.run(_live, list(FIVE), data.draw)


# Holds: provider-5
@random.cases(50)
@given(data=st.data())
def test_no_provider_refuses_the_answers_of_others(data: st.DataObject) -> None:
    names = data.draw(
        st.lists(st.sampled_from(list(PROVIDERS)), min_size=2, max_size=3, unique=True)
    )
    anyio.run(_live, names, data.draw)
