"""A turn ends with an error of length only where the shortest request of its conversation is too long."""

from __future__ import annotations

import json
import math
import os
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplifier_agent import Agent, hook, tool
from amplifier_core import AmplifierSession
from amplifier_core.events import LLM_RESPONSE
from amplifier_core.llm_errors import ContextLengthError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_modules.contexts.simple import SimpleContext
from amplifier_modules.loops.request import tool_specs
from amplifier_providers.requests.token_estimate import estimate_tokens
from amplifier_testing.servers import (
    Answer,
    AnthropicServer,
    Call,
    ChatServer,
    OllamaServer,
    ResponsesServer,
    Thinking,
    Window,
)

LENGTHS = st.one_of(st.integers(0, 300), st.integers(0, 6_000))
HISTORIES = st.lists(
    st.tuples(st.sampled_from(["user", "assistant", "call", "hook", "system"]), LENGTHS),
    max_size=25,
)
MORE = int(os.environ.get("FITTING_EXAMPLES", "1"))
"""How many times as many sessions are tried."""
ROUNDS = st.lists(st.lists(LENGTHS, min_size=1, max_size=3), max_size=4)


def user(text):
    return {"role": "user", "content": text}


def call(*ids):
    calls = [{"id": id, "tool": "look", "arguments": {}} for id in ids]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def result(id, text):
    return {"role": "tool", "tool_call_id": id, "name": "look", "content": text}


async def fill(context, history):
    for number, (kind, length) in enumerate(history):
        text = "x" * length
        if kind == "call":
            await context.add_message(call(f"h{number}"))
            await context.add_message(result(f"h{number}", text))
        elif kind == "hook":
            await context.add_message({**user(text), "metadata": {"source": "hook"}})
        else:
            await context.add_message({"role": kind, "content": text})


class CountingProvider:
    """Refuses what is longer than its window, and counts more than is estimated."""

    name = "scripted"

    def __init__(self, window, factor, tells_window, rounds, hooks):
        self.window = window
        self.factor = factor
        self.tells_window = tells_window
        self.rounds = list(rounds)
        self.hooks = hooks
        self.refused = []

    def get_info(self):
        known = {"context_window": self.window} if self.tells_window else {}
        return SimpleNamespace(defaults=known)

    def count(self, messages):
        tokens = sum(estimate_tokens(each) for each in messages)
        return math.ceil(tokens * self.factor)

    async def complete(self, request, **options):
        messages = [message.model_dump(exclude_none=True) for message in request.messages]
        tokens = self.count(messages)
        if tokens > self.window:
            self.refused.append(tokens)
            raise ContextLengthError(f"{tokens} of {self.window}", provider="scripted")
        usage = {"input_tokens": tokens, "output_tokens": 1}
        await self.hooks.emit(LLM_RESPONSE, {"status": "ok", "usage": usage})
        return self.rounds.pop(0) if self.rounds else self.say.text("done")


def shortest(history, settings):
    """Return the shortest request, as a person would write it."""
    said = [
        i for i, m in enumerate(history) if m["role"] == "user" and "source" not in m["metadata"]
    ]
    start = len(history) - 1
    while history[start]["role"] == "tool":
        start -= 1

    def cut(message):
        text = message["content"]
        if isinstance(text, list):
            text = "\n".join(block["text"] for block in text)
        if len(text) <= 350:
            return message
        return {**message, "content": f"{text[:250]}\n[{len(text) - 250} more characters left out]"}

    kept = []
    for index, message in enumerate(history):
        if index >= start:
            kept.append(cut(message) if message["role"] == "tool" else message)
        elif index == said[0] != said[-1]:
            kept.append(cut(message))
        elif index == said[-1] or message["role"] == "system":
            kept.append(message)
    if len(kept) < len(history):
        kept.append(user("<system-reminder>" + "n" * 120 + "</system-reminder>"))
    return kept


# Holds: agent-29
@pytest.mark.parametrize("loop", ["basic", "streaming"])
@given(
    history=HISTORIES,
    rounds=ROUNDS,
    window=st.integers(100, 6_000),
    factor=st.sampled_from([0.7, 1.0, 1.3, 2.5]),
    tells_window=st.booleans(),
    prompt=st.integers(1, 3_000),
)
@settings(
    max_examples=min(settings().max_examples, 300) * MORE,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
async def test_no_turn_ends_with_an_error_that_a_compaction_avoids(
    loop, bench, say, history, rounds, window, factor, tells_window, prompt
):
    turn = bench(loop)
    turn.context = context = SimpleContext(hooks=turn.coordinator.hooks)
    turn.coordinator.hooks.register(LLM_RESPONSE, context._hear_response)
    texts = iter([length for each in rounds for length in each])
    turn.tool("look", lambda given: "r" * next(texts))
    asked = [
        say.calls(*((f"{number}.{at}", "look", {}) for at in range(len(each))))
        for number, each in enumerate(rounds)
    ]
    turn.provider = CountingProvider(window, factor, tells_window, asked, turn.coordinator.hooks)
    turn.provider.say = say
    await fill(context, history)
    try:
        assert await turn.run("p" * prompt) == "done"
    except ContextLengthError as error:
        smallest = turn.provider.count(shortest(await context.get_messages(), context._settings))
        assert smallest > window, "a shorter request was possible"
        assert "cannot be made shorter" in str(error)  # noqa: PT017 -- either end is right
    assert len(await context.get_messages()) >= len(history) + 1, "the conversation stays whole"


PROVIDERS = {
    "anthropic": (AnthropicServer, {"base_url": "{}", "default_model": "claude-sonnet-4-5"}),
    "openai": (ResponsesServer, {"base_url": "{}", "default_model": "gpt-5.5"}),
    "openai-chat": (ChatServer, {"base_url": "{}", "default_model": "gpt-4o"}),
    "ollama": (OllamaServer, {"host": "{}", "default_model": "qwen3:8b"}),
}


@pytest.mark.parametrize("loop", ["loop-basic", "loop-streaming"])
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("per_token", [4.0, 3.0])
async def test_a_long_session_ends_with_an_answer_whatever_the_server_counts(
    loop, provider, per_token, tmp_path
):
    make, config = PROVIDERS[provider]
    (tmp_path / "long.txt").write_text("a line of the file\n" * 400)
    with make() as server:
        server.window = Window(7_000, per_token)
        read = Call("read_file", {"path": "long.txt"})
        server.answers = [Answer(read), Answer(read, read), "It is long."] * 4
        config = {key: value.format(server.url) for key, value in config.items()}
        plan = {
            "session": {"orchestrator": loop, "context": "context-simple"},
            "providers": [{"module": f"provider-{provider}", "config": {"api_key": "k", **config}}],
            "tools": [{"module": "tool-filesystem", "config": {"root": str(tmp_path)}}],
        }
        async with AmplifierSession(plan) as session:
            answers = [await session.execute(f"Read it, {number}.") for number in range(4)]
        assert answers == ["It is long."] * 4
        assert server.answers == []
        wrong = [
            each
            for each in server.refusals
            if "long"
            not in each.message.replace("maximum context length", "too long").replace(
                "exceeds the context length", "too long"
            )
        ]
        assert wrong == [], "nothing is refused but for its length"
        sizes = [server.window.count(seen.raw) for seen in server.requests]
        assert len(server.refusals) == sum(size > 7_000 for size in sizes) >= 1


SIZES = st.one_of(st.integers(0, 400), st.integers(0, 4_000), st.integers(4_000, 40_000))
ASKED = st.tuples(SIZES, st.lists(SIZES, max_size=3), st.sampled_from(["prompt", "attachment"]))
"""The lengths of a prompt, or of what is attached to it, and of the results of its rounds."""
STRICT = {
    "anthropic": (AnthropicServer, {"default_model": "claude-sonnet-4-5"}),
    "openai-chat": (ChatServer, {"default_model": "gpt-4o"}),
}


def looking(number, length):
    """A tool with a long description."""

    @tool(name=f"tool_{number}", description="It does what its name says. " * (length // 28 + 1))
    def named(at: int) -> str:
        return "never"

    return named


def attachment(length):
    """A message that an application adds before the prompt."""
    parts = ("Read this.", "a" * length)
    return {"role": "user", "content": [{"type": "text", "text": text} for text in parts]}


async def bytes_of_shortest(session, refused):
    """The length of the shortest request of the conversation, written as that which was refused."""
    coordinator = session.coordinator
    [provider] = coordinator.get("providers").values()
    context = coordinator.get("context")
    kept = shortest(await context.get_messages(), context._settings)
    system = await context._system.make_messages()
    messages = [Message.model_validate(each) for each in (*system, *kept)]
    specs = tool_specs(coordinator.get("tools"))
    written = provider.wire_format.encode(
        ChatRequest(messages=messages, tools=specs or None), {}
    ).to_bytes()
    options = {*json.loads(refused)} - {*json.loads(written)}
    return len(written) + sum(len(str(json.loads(refused)[each])) + 8 for each in options)


@pytest.mark.parametrize("name", STRICT)
@given(
    history=st.lists(
        st.tuples(st.sampled_from(["user", "assistant", "call"]), LENGTHS), max_size=40
    ),
    turns=st.lists(ASKED, min_size=1, max_size=4),
    thoughts=st.one_of(st.just(0), st.integers(0, 3_000)),
    tools=st.lists(st.integers(0, 2_000), max_size=4),
    system=st.one_of(st.just(0), st.integers(0, 3_000)),
    window=st.one_of(st.integers(300, 2_000), st.integers(2_000, 12_000)),
    per_token=st.sampled_from([2.0, 3.0, 4.0, 6.0]),
    put_aside=st.sampled_from([0, 4_096, 131_072]),
    summarize=st.booleans(),
)
@settings(max_examples=min(settings().max_examples, 25) * MORE)
async def test_no_turn_with_a_strict_server_ends_with_an_error_that_a_compaction_avoids(
    name, history, turns, thoughts, tools, system, window, per_token, put_aside, summarize
):
    make, config = STRICT[name]
    lengths = iter([length for _, rounds, _ in turns for length in rounds])

    @tool
    def look(at: int) -> str:
        """Look."""
        return "r" * next(lengths)

    with make() as server:
        server.window = Window(window, per_token)
        thinking = [Thinking("t" * thoughts)] if thoughts else []
        for _, rounds, _ in turns:
            calls = [Answer(*thinking, Call("look", {"at": at})) for at in range(len(rounds))]
            server.answers += [*calls, Answer(*thinking, "done")]

        @hook("llm:request")
        def sum_up(event, data):
            if data.get("purpose") == "summary":
                server.answers.insert(0, "They looked.")

        @hook("llm:response")
        def forget(event, data):
            if server.answers[:1] == ["They looked."]:
                server.answers.pop(0)  # the request for the summary was too long itself

        plan = {
            "session": {"orchestrator": "loop-streaming", "context": "context-simple"},
            "providers": [
                {
                    "module": f"provider-{name}",
                    "config": {"api_key": "k", "base_url": server.url, **config},
                }
            ],
        }
        context = SimpleContext(put_aside_bytes=put_aside, summarize=summarize)
        others = [looking(*each) for each in enumerate(tools)]
        agent = Agent(
            plan=plan,
            tools=[look, *others],
            system="s" * system if system else None,
            context=context,
            hooks=[sum_up, forget],
        )
        async with agent.session() as s:
            await fill(context, history)
            for number, (length, _, kind) in enumerate(turns):
                try:
                    if kind == "attachment":
                        await context.add_message(attachment(length))
                    text = "p" * length if kind == "prompt" else "And now?"
                    assert (await s.run(f"{number}: {text}")).text == "done"
                except ContextLengthError as error:
                    smallest = await bytes_of_shortest(s.session, server.requests[-1].raw)
                    assert smallest / per_token > window - 40, "a shorter request was possible"
                    assert "cannot be made shorter" in str(error)  # noqa: PT017 -- either end is right
                    break
        too_long = [window < server.window.count(each.raw) for each in server.requests]
        assert len(server.refusals) == sum(too_long), "nothing is refused but for its length"
