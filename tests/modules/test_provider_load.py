"""A provider keeps what is left of its rate limits, shares it, and waits where it is little."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_providers.limits.endpoint import Endpoint
from amplifier_providers.limits.rate_limits import RateLimit, rate_limits
from amplifier_providers.wire.load import Load
from amplifier_providers.wire.settings import HttpSettings

NOW = 1_000.0
ANTHROPIC = {
    "anthropic-ratelimit-input-tokens-limit": "1000",
    "anthropic-ratelimit-input-tokens-remaining": "10",
    "anthropic-ratelimit-input-tokens-reset": "1970-01-01T00:16:40.5+00:00",
    "anthropic-ratelimit-requests-limit": "50",
}
OPENAI = {
    "x-ratelimit-limit-requests": "100",
    "x-ratelimit-remaining-requests": "1",
    "x-ratelimit-reset-requests": "6m0.5s",
}


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


class World:
    """Time that passes while someone waits, and the events that were told."""

    def __init__(self) -> None:
        self.now = NOW
        self.slept: list[float] = []
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.endpoint = Endpoint("e")

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        self.events.append((event, data))

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def load(self, **settings: Any) -> Load:
        given = HttpSettings(**settings)
        return Load("p", given, self.endpoint, self.emit, lambda: self.now, self.sleep)


@pytest.mark.parametrize(
    ("headers", "limits"),
    [
        (ANTHROPIC, [RateLimit("input-tokens", 1_000, 10, NOW + 0.5)]),
        (OPENAI, [RateLimit("requests", 100, 1, NOW + 360.5)]),
        ({**OPENAI, "x-ratelimit-reset-requests": "20ms"}, [RateLimit("requests", 100, 1, NOW + 0.02)]),
        ({**OPENAI, "x-ratelimit-reset-requests": "7"}, [RateLimit("requests", 100, 1, NOW + 7)]),
        ({**OPENAI, "x-ratelimit-reset-requests": "soon"}, [RateLimit("requests", 100, 1, None)]),
        ({**OPENAI, "x-ratelimit-remaining-requests": "few"}, []),
        ({"content-type": "text/html"}, []),
    ],
)  # fmt: skip
def test_the_headers_of_both_families_are_read(
    headers: dict[str, str], limits: list[RateLimit]
) -> None:
    assert rate_limits(headers, lambda: NOW) == limits


@given(st.dictionaries(st.sampled_from([*ANTHROPIC, *OPENAI]), st.text(max_size=8)))
def test_no_header_is_fatal(headers: dict[str, str]) -> None:
    for limit in rate_limits(headers, lambda: NOW):
        assert isinstance(limit, RateLimit)


async def test_a_call_waits_where_little_is_left_until_it_is_whole_again() -> None:
    world = World()
    load = world.load()
    await load.note(ANTHROPIC)
    (await load.enter("m")).leave()
    (await load.enter("m")).leave()

    assert world.slept == [0.5]
    assert world.events == [
        (
            "provider:throttle",
            {"provider": "p", "model": "m", "delay": 0.5, "reason": "10 of 1000 input-tokens left"},
        )
    ]


@pytest.mark.parametrize(
    ("settings", "slept"),
    [
        ({}, [1.0]),
        ({"throttle_delay": 3.0}, [3.0]),
        ({"throttle_delay": 0.0}, []),
        ({"throttle_threshold": 0.0}, []),
        ({"throttle_threshold": 0.01}, []),
    ],
)
async def test_how_little_and_how_long_is_set(settings: dict[str, Any], slept: list[float]) -> None:
    world = World()
    load = world.load(**settings)
    await load.note(OPENAI)
    await load.enter("m")
    assert world.slept == slept


async def test_processes_share_what_is_left_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "state" / "limits.json"
    one, other = World(), World()
    await one.load(rate_limit_state_path=str(path)).note(OPENAI)
    await other.load(rate_limit_state_path=str(path)).enter("m")
    assert other.slept == [1.0]


@pytest.mark.parametrize("content", ["", "[]", '{"p": 1}', '{"p": {"requests": [1]}}', "\x00"])
async def test_a_file_of_another_form_is_written_anew(tmp_path: Path, content: str) -> None:
    path = tmp_path / "limits.json"
    path.write_text(content)
    world = World()
    load = world.load(rate_limit_state_path=str(path))
    (await load.enter("m")).leave()
    await load.note(OPENAI)
    await world.load(rate_limit_state_path=str(path)).enter("m")
    assert world.slept == [1.0]
