"""A turn without tools: its events, its request, what hooks may do to it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from amplifier_core.llm_errors import ConfigurationError, RateLimitError
from amplifier_core.message_models import (
    ChatResponse,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    Usage,
)
from amplifier_core.models import HookResult
from amplifier_modules.loops.basic import BasicLoop
from amplifier_modules.loops.model_roles import choose_provider, model_name


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


@pytest.fixture(params=["basic", "streaming"])
def kind(request):
    return request.param


PLAIN = [
    "execution:start", "turn:start", "prompt:submit", "provider:request", "llm:pre", "llm:post",
    "provider:response", "content_block:start", "content_block:end", "prompt:complete",
    "turn:end", "orchestrator:complete", "execution:end",
]  # fmt: skip


async def test_a_plain_turn_emits_its_events_in_order(bench, say):
    turn = bench("basic", say.text("hello"))

    assert await turn.run("hi") == "hello"
    assert turn.names() == PLAIN


async def test_a_streaming_turn_emits_deltas_too(bench, say):
    turn = bench("streaming", say.text("hello"))

    assert await turn.run("hi") == "hello"
    expected = list(PLAIN)
    expected.insert(expected.index("content_block:end"), "content_block:delta")
    assert turn.names() == expected


async def test_the_payloads_of_a_turn(bench):
    usage = Usage(input_tokens=3, output_tokens=2, total_tokens=5)
    response = ChatResponse(
        content=[TextBlock(text="hello")], usage=usage, finish_reason="end_turn"
    )
    turn = bench("basic", response)
    turn.provider.default_model = "small-1"
    await turn.run("hi")

    identity = {"provider": "scripted", "model": "small-1", "iteration": 1}
    facts = {**identity, "usage": usage.model_dump(mode="json"), "finish_reason": "end_turn"}
    assert turn.data("execution:start") == [{"prompt": "hi"}]
    assert turn.data("turn:start") == [{"orchestrator": "loop-basic", "prompt": "hi"}]
    assert turn.data("prompt:submit") == [{"prompt": "hi"}]
    assert turn.data("provider:request") == [{**identity, "message_count": 1}]
    assert turn.data("llm:pre") == [{**identity, "message_count": 1}]
    assert turn.data("llm:post") == [{**facts, "status": "ok"}]
    assert turn.data("provider:response") == [
        {**facts, "response": response.model_dump(mode="json")}
    ]
    assert turn.data("content_block:start") == [
        {"block_type": "text", "block_index": 0, "metadata": None}
    ]
    assert turn.data("content_block:end") == [
        {"block_type": "text", "block_index": 0, "block": {"type": "text", "text": "hello"}}
    ]
    assert turn.data("prompt:complete") == [{"prompt": "hi", "response": "hello"}]
    assert turn.data("turn:end") == [
        {"orchestrator": "loop-basic", "turn_count": 1, "status": "completed"}
    ]
    assert turn.data("orchestrator:complete") == [
        {"orchestrator": "loop-basic", "turn_count": 1, "status": "success"}
    ]
    assert turn.data("execution:end") == [{"response": "hello", "status": "completed"}]


async def test_the_answer_is_text_alone_and_the_history_has_all(kind, bench):
    blocks = [
        ThinkingBlock(thinking="secret", signature="s=="),
        TextBlock(text="one, "),
        TextBlock(text="two"),
        ThinkingBlock(thinking="more"),
        TextBlock(text="three"),
    ]
    turn = bench(kind, ChatResponse(content=blocks, metadata={"state": 7}))

    assert await turn.run("hi") == "one, two\n\nthree"
    stored = await turn.context.get_messages()
    assert await turn.history() == [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "secret", "signature": "s=="},
                {"type": "text", "text": "one, "},
                {"type": "text", "text": "two"},
                {"type": "thinking", "thinking": "more"},
                {"type": "text", "text": "three"},
            ],
        },
    ]
    assert stored[1]["metadata"]["state"] == 7


async def test_the_next_turn_sees_the_last_one(bench, say):
    turn = bench("basic", say.text("first"), say.text("second"))
    await turn.run("a")
    await turn.run("b")

    roles = [message.role for message in turn.provider.requests[1].messages]
    assert roles == ["user", "assistant", "user"]
    first, second = turn.provider.requests
    assert second.messages[0] is first.messages[0], "a message is validated once"


async def test_no_event_carries_the_history(kind, bench, say):
    turn = bench(kind, say.text("first"), say.calls(("1", "look", {})), say.text("second"))
    turn.tool("look", lambda given: "seen")
    await turn.run("the needle")
    turn.events.clear()
    await turn.run("b")

    assert turn.names().count("provider:request") == 2
    assert "needle" not in str(turn.events)


async def test_a_message_changed_in_place_is_sent_as_it_is_now(bench, say):
    turn = bench("basic", say.text("first"), say.text("second"))
    await turn.run("a")
    (await turn.context.get_messages())[0]["content"] = "changed"
    await turn.run("b")

    assert turn.provider.requests[1].messages[0].content == "changed"


async def test_settings_reach_the_provider(bench, say):
    config = {"reasoning_effort": "high", "extended_thinking": True}
    turn = bench("basic", say.text("ok"), config=config)
    turn.tool("look", lambda given: "seen")
    await turn.run()

    request = turn.provider.requests[0]
    assert request.reasoning_effort == "high"
    assert [tool.model_dump() for tool in request.tools] == [
        {
            "name": "look",
            "parameters": turn.tools["look"].input_schema,
            "description": "A tool of the tests.",
        }
    ]
    assert turn.provider.options == [{"extended_thinking": True}]


async def test_a_denied_prompt_calls_no_model(kind, bench, say):
    turn = bench(kind, say.text("never"))
    turn.answer_hook("prompt:submit", action="deny", reason="not today")

    assert await turn.run() == "Operation denied: not today"
    assert turn.provider.requests == []
    assert await turn.history() == []
    denied = {"event": "prompt:submit", "reason": "not today"}
    assert turn.data("orchestrator:complete") == [
        {
            "orchestrator": f"loop-{kind}",
            "turn_count": 0,
            "status": "incomplete",
            "denied": denied,
            "reason": "not today",
        }
    ]
    assert turn.data("execution:end")[0]["status"] == "completed"


# Holds: sink-52
async def test_a_denied_request_ends_the_turn(bench, say):
    turn = bench("basic", say.text("never"))
    turn.answer_hook("provider:request", action="deny", reason="no budget")

    assert await turn.run("hi") == "Operation denied: no budget"
    assert turn.provider.requests == []
    denied = turn.data("orchestrator:complete")[0]["denied"]
    assert denied == {"event": "provider:request", "reason": "no budget"}
    assert await turn.history() == [{"role": "user", "content": "hi"}]


async def test_a_hook_may_change_the_prompt(bench, say):
    turn = bench("basic", say.text("ok"))
    turn.hook(
        "prompt:submit", lambda _e, data: HookResult(action="modify", data={**data, "prompt": "b"})
    )
    await turn.run("a")

    assert (await turn.history())[0] == {"role": "user", "content": "b"}


async def test_an_ephemeral_injection_is_sent_once_and_not_stored(bench, say):
    turn = bench("basic", say.text("one"), say.text("two"))
    injection = {
        "action": "inject_context",
        "context_injection": "mind the gap",
        "context_injection_role": "user",
        "ephemeral": True,
    }
    results = [HookResult(**injection), None]
    turn.hook("provider:request", lambda _e, _d: results.pop(0))
    await turn.run("a")
    await turn.run("b")

    sent = [[m.content for m in request.messages] for request in turn.provider.requests]
    assert sent[0] == ["a", "mind the gap"]
    assert "mind the gap" not in sent[1]
    assert [message["role"] for message in await turn.history()] == [
        "user", "assistant", "user", "assistant",
    ]  # fmt: skip


async def test_an_injection_of_the_prompt_reaches_the_first_request(bench, say):
    turn = bench("basic", say.text("one"))
    turn.answer_hook(
        "prompt:submit", action="inject_context", context_injection="now is noon", ephemeral=True
    )
    await turn.run("a")

    assert [(m.role, m.content) for m in turn.provider.requests[0].messages] == [
        ("user", "a"),
        ("system", "now is noon"),
    ]


async def test_an_error_of_the_provider_comes_through_unchanged(kind, bench):
    error = RateLimitError("slow down", retry_after=2.0, status_code=429)
    turn = bench(kind, error)

    with pytest.raises(RateLimitError) as caught:
        await turn.run("hi")

    assert caught.value is error
    description = {"type": "RateLimitError", "msg": "slow down"}
    assert turn.data("provider:error") == [
        {
            "provider": "scripted",
            "model": None,
            "iteration": 1,
            **description,
            "error": description,
            "retryable": True,
            "status_code": 429,
        }
    ]
    assert turn.names()[-3:] == ["turn:end", "orchestrator:complete", "execution:end"]
    assert turn.data("orchestrator:complete")[0]["status"] == "incomplete"
    assert turn.data("execution:end") == [{"response": "", "status": "error"}]
    assert "prompt:complete" not in turn.names()


async def test_an_error_that_cannot_say_its_message_comes_through(bench):
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError

    turn = bench("basic", Mute())

    with pytest.raises(Mute):
        await turn.run()
    assert turn.data("provider:error")[0]["msg"] == ""


async def test_no_provider_is_one_clear_error(bench):
    turn = bench("basic")
    loop = await turn.loop()

    with pytest.raises(ConfigurationError, match="no provider is mounted"):
        await loop.execute("hi", turn.context, {}, {}, turn.coordinator.hooks)
    assert turn.names()[-1] == "execution:end"


# Holds: sink-8
async def test_a_turn_at_its_limit_is_asked_to_wrap_up(kind, bench, say, valid):
    turn = bench(
        kind,
        say.calls(("1", "look", {})),
        say.calls(("2", "look", {})),
        ChatResponse(
            content=[TextBlock(text="so far"), ToolCallBlock(id="3", name="look", input={})],
            tool_calls=[{"id": "3", "name": "look", "arguments": {}}],
        ),
        config={"max_iterations": 2},
    )
    turn.tool("look", lambda given: "seen")

    assert await turn.run("hi") == "so far"
    last = turn.provider.requests[2]
    assert last.tool_choice == "none"
    assert "limit of model calls" in last.messages[-1].content
    history = await turn.history()
    valid(history)
    assert history[-1] == {"role": "assistant", "content": [{"type": "text", "text": "so far"}]}
    assert turn.data("orchestrator:complete") == [
        {
            "orchestrator": f"loop-{kind}",
            "turn_count": 2,
            "status": "incomplete",
            "reason": "the limit of 2 model calls, `max_iterations`",
        }
    ]


async def test_an_error_while_wrapping_up_is_reported(bench, say, valid):
    turn = bench(
        "basic", say.calls(("1", "look", {})), RuntimeError("gone"), config={"max_iterations": 1}
    )
    turn.tool("look", lambda given: "seen")

    assert await turn.run() == (
        "Stopped after 1 model calls, the limit of this turn; "
        "the closing call failed: RuntimeError: gone"
    )
    valid(await turn.history())
    assert turn.data("provider:error")[0]["msg"] == "gone"


async def test_a_loop_runs_without_a_coordinator(bench, say):
    turn = bench("basic", say.text("hello"))
    loop = BasicLoop()

    answer = await loop.execute(
        "", turn.context, {"scripted": turn.provider}, {}, turn.coordinator.hooks
    )
    assert answer == "hello"


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        (SimpleNamespace(default_model="a"), "a"),
        (SimpleNamespace(model="b"), "b"),
        (SimpleNamespace(config=SimpleNamespace(default_model="c")), "c"),
        (SimpleNamespace(model=None, config={}), None),
    ],
)
def test_the_model_is_named_where_the_provider_says_it(provider, model):
    assert model_name(provider) == model


class Ranked:
    def __init__(self, priority=None, config=None):
        if priority is not None:
            self.priority = priority
        self.config = config


@pytest.mark.parametrize(
    ("providers", "preferred", "chosen"),
    [
        ({"a": Ranked(), "b": Ranked(50), "c": Ranked(70)}, None, "b"),
        ({"a": Ranked(), "b": Ranked(config={"priority": 5})}, None, "b"),
        ({"a": Ranked(), "b": Ranked()}, None, "a"),
        ({"a": Ranked(1), "b": Ranked(2)}, "b", "b"),
        ({"a": Ranked(1), "b": Ranked(2)}, "provider-b", "b"),
        ({"a": Ranked(1), "b": Ranked(2)}, "gone", "a"),
    ],
)
def test_the_provider_is_the_preferred_one_or_that_of_lowest_priority(providers, preferred, chosen):
    assert choose_provider(providers, preferred) == (chosen, providers[chosen])


@pytest.mark.parametrize(
    "config",
    [
        {"max_iterations": 0},
        {"max_iterations": "5"},
        {"max_iterations": True},
        {"stream_delay": -1},
        {"stream_delay": float("nan")},
        {"min_delay_between_calls_ms": "soon"},
        {"default_provider": 3},
    ],
)
def test_a_bad_setting_is_named(config):
    with pytest.raises(ValueError, match=f"`{next(iter(config))}` is "):
        BasicLoop(config)
