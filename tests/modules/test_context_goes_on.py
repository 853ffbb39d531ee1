"""A conversation that is shortened again and again goes on, by the rules of each service."""

from __future__ import annotations

import json

import pytest

from amplifier_agent import Agent, hook, tool
from amplifier_modules.contexts.simple import SimpleContext
from amplifier_testing.servers import (
    Answer,
    AnthropicServer,
    Call,
    ChatServer,
    OllamaServer,
    RedactedThinking,
    ResponsesServer,
    Thinking,
)

TURNS = 10
THOUGHTS = "I have to look at it before I answer. " * 4
SHOWN = "What was found. " * 60


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


class Narrow(SimpleContext):
    """Has little room, however large the window of the model is."""

    async def get_messages_for_request(self, token_budget=None, provider=None):
        return await super().get_messages_for_request(min(token_budget or 1_500, 1_500), provider)


@tool
def look(at: str) -> str:
    """Look at something."""
    return f"{at}: {SHOWN}"


SERVERS = {
    "anthropic": (
        AnthropicServer,
        "provider-anthropic",
        {"base_url": "{}", "default_model": "claude-sonnet-4-5", "thinking_budget_tokens": 1_024},
    ),
    "anthropic-adaptive": (
        AnthropicServer,
        "provider-anthropic",
        {"base_url": "{}", "default_model": "claude-opus-4-7", "thinking_type": "adaptive"},
    ),
    "responses": (
        ResponsesServer,
        "provider-openai",
        {"base_url": "{}", "default_model": "gpt-5.5"},
    ),
    "responses-chained": (
        ResponsesServer,
        "provider-openai",
        {"base_url": "{}", "default_model": "gpt-5.5", "enable_response_chaining": True},
    ),
    "chat": (ChatServer, "provider-openai-chat", {"base_url": "{}", "default_model": "gpt-4o"}),
    "ollama": (OllamaServer, "provider-ollama", {"host": "{}", "default_model": "qwen3:8b"}),
}


def script(*, has_redacted):
    """Turns with thoughts before calls, between calls, and before the answer."""
    hidden = [RedactedThinking()] if has_redacted else []
    for number in range(TURNS):
        first = Call("look", {"at": f"a{number}"})
        others = [Call("look", {"at": f"{name}{number}"}) for name in "bc"]
        yield Answer(Thinking(THOUGHTS), *hidden, "First this.", first)
        yield Answer(Thinking(THOUGHTS), *others)
        yield Answer(Thinking(THOUGHTS), f"Answer {number}. " + "word " * 50)


@pytest.mark.parametrize("summarize", [False, True], ids=["plain", "summary"])
@pytest.mark.parametrize("name", SERVERS)
async def test_nothing_is_refused_however_often_the_conversation_is_shortened(name, summarize):
    make, module, config = SERVERS[name]
    compactions, bodies_before, repairs = [], [], []
    with make() as server:
        server.answers = list(script(has_redacted=make is AnthropicServer))

        @hook("context:compaction")
        def count(event, data):
            compactions.append(data)
            bodies_before.append(len(server.requests))

        @hook("provider:tool_sequence_repaired")
        def repaired(event, data):
            repairs.append(data)

        @hook("llm:request")
        def sum_up(event, data):
            if data.get("purpose") == "summary":
                server.answers.insert(0, "They looked at many things.")

        config = {key: server.url if value == "{}" else value for key, value in config.items()}
        plan = {
            "session": {"orchestrator": "loop-streaming", "context": "context-simple"},
            "providers": [{"module": module, "config": {"api_key": "k", **config}}],
        }
        context = Narrow(summarize=summarize)
        agent = Agent(plan=plan, tools=[look], context=context, hooks=[count, repaired, sum_up])
        async with agent.session() as s:
            texts = [(await s.run(f"Question {number}?")).text for number in range(TURNS)]

        assert (server.refusals, repairs) == ([], [])
        assert server.answers == []
        assert [text.partition(".")[0] for text in texts] == [f"Answer {n}" for n in range(TURNS)]
        assert len(compactions) >= 4
        assert any(each["is_summarized"] for each in compactions) is summarize
        assert len(await context.get_messages()) == 7 * TURNS
        if name == "responses-chained":
            chained = ["previous_response_id" in json.loads(each.raw) for each in server.requests]
            assert not any(chained[at] for at in bodies_before), "it would hold what was left out"
            assert sum(chained) > 2 * TURNS - len(compactions), "chains begin again"
