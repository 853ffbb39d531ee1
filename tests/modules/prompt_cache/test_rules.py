"""The strict servers count by the published rules, and predictions are withheld where counts lack.

Holds: prefix-6, prefix-8
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from amplifier_providers.prompt.automatic_cache import AutomaticCache
from amplifier_providers.prompt.blocks import MessageBlocks
from amplifier_providers.prompt.forecast import CacheRule
from amplifier_providers.prompt.marked_cache import MarkedCache
from amplifier_providers.prompt.prompt import Prompt, PromptReader
from amplifier_testing.servers import Usage
from amplifier_testing.servers.anthropic.prompt_cache import PromptCache as MarkedServer
from amplifier_testing.servers.responses.prompt_cache import PromptCache as AutomaticServer


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


MARK = {"cache_control": {"type": "ephemeral"}}
LONG = "word " * 1_000


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def body(*blocks: dict[str, Any], model: str = "claude-sonnet-5", **fields: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": list(blocks)}]
    return {"model": model, "messages": messages, **fields}


def count(server: MarkedServer, request: dict[str, Any]) -> tuple[bool, bool]:
    """Whether a request is read from the cache, and written to it."""
    usage = server.count(request, Usage())
    return usage.cache_read > 0, usage.cache_write > 0


READ, WRITTEN, NEITHER = (True, False), (False, True), (False, False)


def test_a_prompt_is_kept_up_to_its_mark_for_five_minutes_after_its_last_use() -> None:
    clock = Clock()
    server = MarkedServer(clock)
    request = body(text(LONG, **MARK))

    assert count(server, request) == WRITTEN
    for seconds, expected in ((299, READ), (299, READ), (300, WRITTEN)):
        clock.now += seconds
        assert count(server, request) == expected


def test_an_hour_is_kept_where_the_mark_says_so() -> None:
    clock = Clock()
    server = MarkedServer(clock)
    request = body(text(LONG, cache_control={"type": "ephemeral", "ttl": "1h"}))

    assert count(server, request) == WRITTEN
    clock.now += 3_599
    assert count(server, request) == READ


@pytest.mark.parametrize(
    ("model", "least"),
    [("claude-opus-5", 512), ("claude-sonnet-4-6", 1_024), ("claude-haiku-4-5", 4_096)],
)
def test_what_is_smaller_than_the_minimum_of_its_model_is_not_kept(model: str, least: int) -> None:
    def request(tokens: int) -> dict[str, Any]:
        return body(text("w" * (tokens * 4), **MARK), model=model)

    assert count(MarkedServer(Clock()), request(least - 12)) == NEITHER
    assert count(MarkedServer(Clock()), request(least)) == WRITTEN


def test_twenty_blocks_are_looked_at_from_a_mark_backwards() -> None:
    server = MarkedServer(Clock())
    count(server, body(text(LONG, **MARK)))

    def longer(more: int) -> dict[str, Any]:
        rest = [text(str(number)) for number in range(more - 1)]
        return body(text(LONG), *rest, text("end", **MARK))

    assert count(server, longer(20)) == WRITTEN
    assert count(server, longer(19)) == (True, True)


@pytest.mark.parametrize(
    "change", [{"tool_choice": {"type": "none"}}, {"thinking": {"type": "adaptive"}}]
)
def test_a_setting_empties_the_cache_of_messages_alone(change: dict[str, Any]) -> None:
    server = MarkedServer(Clock())
    system = [text(LONG, **MARK)]
    first = server.count(body(text("Hi", **MARK), system=system), Usage())
    second = server.count(body(text("Hi", **MARK), system=system, **change), Usage())

    assert (first.cache_read, second.cache_read > 0, second.cache_write > 0) == (0, True, True)


def test_equal_beginnings_are_kept_in_steps_from_1024_tokens_on() -> None:
    clock = Clock()
    server = AutomaticServer(clock, seconds=400)

    def ask(words: str, **fields: Any) -> Usage:
        item = {"role": "user", "content": words}
        return server.count({"model": "gpt-5.4", **fields}, [item], Usage())

    assert ask("a" * 3_900).cache_read == ask("a" * 3_900).cache_read == 0
    assert ask("b" * 8_000).cache_read == 0
    assert ask("b" * 7_000 + "c").cache_read == 1_664
    clock.now += 400
    assert ask("b" * 8_000).cache_read == 0
    ask("d" * 8_000, prompt_cache_retention="24h")
    clock.now += 86_000
    assert ask("d" * 8_000).cache_read > 0


# Predictions, from prompts of blocks and the counts that a service might give.


class Sent:
    """A request with blocks of these texts, marked at its end."""

    blocks: MessageBlocks | None
    system: list[dict[str, Any]]

    def __init__(self, *blocks: str, marks: tuple[int, ...] | None = None) -> None:
        self.model, self.has_tail, self.system = "m", False, []
        self.fields: dict[str, Any] = {}
        digests = [each.encode().ljust(16) for each in blocks]
        sizes = [len(each) for each in blocks]
        self.blocks = MessageBlocks(digests, sizes, [len(blocks)], steady=len(blocks))
        self.marks = list(marks if marks is not None else (len(blocks) - 1,))


def prompt(*blocks: str, marks: tuple[int, ...] | None = None) -> Prompt:
    read = PromptReader(reads_settings=True).read(Sent(*blocks, marks=marks), [])
    assert read is not None
    read.link(None, 0)
    return read


def test_what_was_written_is_predicted_until_it_may_be_gone() -> None:
    cache = MarkedCache()
    cache.send(prompt("a"), 0).settle(0, 2_000, 2_000, 4)

    expected = [(100, 2_000), (299.5, None), (302, None), (305, 0)]
    for now, tokens in expected:
        forecast = cache.send(prompt("a", "b"), now)
        assert (now, forecast.tokens) == (now, tokens)
        forecast.drop()


def test_a_beginning_that_nobody_counted_alone_is_not_predicted_before_it_was_read() -> None:
    cache = MarkedCache()
    cache.send(prompt("a", "b", marks=(0, 1)), 0).settle(0, 2_000, 2_000, 0)

    first = cache.send(prompt("a", "c", marks=(0, 1)), 1)
    first.settle(1_500, 600, 2_100, 1)
    second = cache.send(prompt("a", "d", marks=(0, 1)), 2)

    assert (first.tokens, second.tokens) == (None, 1_500)


def test_what_is_too_small_is_known_from_then_on() -> None:
    cache = MarkedCache()
    cache.send(prompt("a"), 0).settle(0, 0, 700, 0)

    assert cache.send(prompt("a", "b"), 1).tokens == 0


RULES: list[tuple[Callable[[], CacheRule], str]] = [
    (MarkedCache, "a"),
    (AutomaticCache, "a" * 9_000),
]


@pytest.mark.parametrize(("make", "common"), RULES, ids=["marked", "automatic"])
def test_of_requests_that_are_on_their_way_at_once_nobody_knows_which_is_first(
    make: Callable[[], CacheRule], common: str
) -> None:
    cache = make()
    one = cache.send(prompt(common, "b", marks=(0, 1)), 0)
    other = cache.send(prompt(common, "c", marks=(0, 1)), 0)

    assert (one.tokens, other.tokens) == (None, None)


@pytest.mark.parametrize(("make", "common"), RULES, ids=["marked", "automatic"])
def test_after_a_request_that_broke_off_nothing_is_predicted_of_it(
    make: Callable[[], CacheRule], common: str
) -> None:
    cache = make()
    cache.send(prompt(common), 0).fail(0)
    refused = make()
    refused.send(prompt(common), 0).drop()

    assert cache.send(prompt(common, "b"), 1).tokens is None
    assert refused.send(prompt(common, "b"), 1).tokens == 0


def test_a_prompt_that_goes_on_otherwise_is_predicted_between_its_bounds() -> None:
    cache = AutomaticCache()
    cache.send(prompt("a" * 5_000, "b"), 0).settle(0, 0, 2_000, 0)
    short = cache.send(prompt("z" * 100), 1)
    longer = cache.send(prompt("a" * 5_000, "b", "c"), 2)
    other = cache.send(prompt("a" * 5_000, "d"), 3)

    assert (short.tokens, longer.tokens, other.tokens) == (0, 1_920, None)
