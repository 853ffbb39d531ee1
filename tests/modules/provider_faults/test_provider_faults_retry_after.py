"""No call comes earlier than the service asks, in whatever form it asks, or it does not come at all."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from services import ANSWER, REQUEST, Hooks, Service, Time, provider_of

from amplifier_core.llm_errors import LLMError, LLMTimeoutError, RateLimitError
from amplifier_providers.limits.rate_limits import reset_wait
from amplifier_testing.servers import Fault

SENT = datetime(2026, 11, 6, 8, 49, 0, tzinfo=UTC)
LATER = datetime(2026, 11, 6, 8, 49, 37, tzinfo=UTC)
DATE = {"date": format_datetime(SENT, usegmt=True)}
GONE = {"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "0"}

FORMS: dict[str, tuple[dict[str, str], float]] = {
    "seconds": ({"retry-after": "33"}, 33),
    "seconds with blanks": ({"retry-after": "  33 "}, 33),
    "a decimal": ({"retry-after": "2.5"}, 2.5),
    "an exponent": ({"retry-after": "1e1"}, 10),
    "milliseconds": ({"retry-after-ms": "1500", "retry-after": "60"}, 1.5),
    "a part of a millisecond": ({"retry-after-ms": "2000.5"}, 2.0005),
    "milliseconds that are none": ({"retry-after-ms": "soon", "retry-after": "7"}, 7),
    "a date of today": ({**DATE, "retry-after": "Fri, 06 Nov 2026 08:49:37 GMT"}, 37),
    "a date of RFC 850": ({**DATE, "retry-after": "Friday, 06-Nov-26 08:49:37 GMT"}, 37),
    "a date of asctime": ({**DATE, "retry-after": "Fri Nov  6 08:49:37 2026"}, 37),
    "seconds of Anthropic": ({"anthropic-ratelimit-requests-reset": "12"}, 12),
    "a duration": ({**GONE, "x-ratelimit-reset-requests": "1m2.5s"}, 62.5),
    "a duration of milliseconds": ({**GONE, "x-ratelimit-reset-requests": "1500ms"}, 1.5),
    "a decimal of a limit": ({**GONE, "x-ratelimit-reset-requests": "11.25"}, 11.25),
    "a limit without a kind": ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9"}, 9),
    "a limit of the draft": ({"ratelimit-remaining": "0", "ratelimit-reset": "9"}, 9),
    "the later of two": (
        {**GONE, "x-ratelimit-reset-requests": "3", "x-ratelimit-reset-tokens": "8"}, 8,
    ),
    "what is asked for first": ({"retry-after": "5", "x-ratelimit-reset": "50"}, 5),
}  # fmt: skip
NONE: dict[str, dict[str, str]] = {
    "nothing": {},
    "blank": {"retry-after": ""},
    "a word": {"retry-after": "soon"},
    "negative": {"retry-after": "-5"},
    "no number": {"retry-after": "nan"},
    "infinite": {"retry-after": "inf"},
    "more than a day": {"retry-after": "86401"},
    "more than a float": {"retry-after": "9" * 400},
    "no milliseconds": {"retry-after-ms": "-1"},
    "a date that is over": {**DATE, "retry-after": "Fri, 06 Nov 2026 08:48:00 GMT"},
    "a date in a year": {**DATE, "retry-after": "Sat, 06 Nov 2027 08:49:37 GMT"},
    "no date": {**DATE, "retry-after": "Fri, 66 Nov 2026 08:49:37 GMT"},
    "a limit that is not reached": {
        "x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "50",
    },
    "a limit that was whole long ago": {**GONE, "x-ratelimit-reset-requests": "2020-01-01T00:00:00Z"},
    "a limit that is whole in a year": {**GONE, "x-ratelimit-reset-requests": "9000h"},
    "a limit that says nothing": {**GONE, "x-ratelimit-reset-requests": "-1"},
}  # fmt: skip


# Holds: failure-15
@pytest.mark.parametrize("jitter", [False, True], ids=["", "jitter"])
@pytest.mark.parametrize("form", FORMS)
async def test_the_next_call_comes_when_the_service_asks_for_it(
    service: Service, form: str, jitter: bool
) -> None:
    headers, seconds = FORMS[form]
    hooks, time = Hooks(), Time()
    with service.server([ANSWER], faults=[Fault(status=429, headers=headers)]) as server:
        async with provider_of(
            service, server.url, hooks, max_retries=1, time=time, jitter=jitter, throttle_delay=0.0
        ) as provider:
            assert (await provider.complete(REQUEST)).finish_reason == "tool_use"
        assert len(server.requests) == 2

    [told] = hooks.data("provider:retry")
    # Durations are counted from the moment at which the headers are read, a little later.
    assert told["retry_after"] == pytest.approx(seconds, abs=0.5)
    assert told["delay"] >= told["retry_after"]
    assert time.now / 1e9 == pytest.approx(told["delay"])


@pytest.mark.parametrize("form", NONE)
async def test_what_is_no_wait_is_none(service: Service, form: str) -> None:
    hooks = Hooks()
    with service.server([ANSWER], faults=[Fault(status=429, headers=NONE[form])]) as server:
        async with provider_of(
            service, server.url, hooks, max_retries=1, throttle_delay=0.0
        ) as provider:
            assert (await provider.complete(REQUEST)).finish_reason == "tool_use"

    [told] = hooks.data("provider:retry")
    assert (told["delay"], told["retry_after"]) == (1.0, None)


@pytest.mark.parametrize(
    ("headers", "status", "kind", "hint"),
    [
        ({"retry-after": "601"}, 429, RateLimitError, "too many requests; retry in 601 s"),
        ({"x-ratelimit-reset": "900.5"}, 429, RateLimitError, "too many requests; retry in 9"),
        ({"retry-after": "86400"}, 504, LLMTimeoutError, "the server took too long; retry in 86400 s"),
    ],
)  # fmt: skip
async def test_a_wait_beyond_the_budget_is_told_at_once_with_its_length(
    service: Service, headers: dict[str, str], status: int, kind: type[LLMError], hint: str
) -> None:
    hooks, time = Hooks(), Time()
    with service.server(faults=[Fault(status=status, headers=headers)]) as server:
        async with provider_of(service, server.url, hooks, max_retries=5, time=time) as provider:
            with pytest.raises(kind) as caught:
                await provider.complete(REQUEST)
        assert len(server.requests) == 1

    error = caught.value
    assert (type(error), time.now, hooks.data("provider:retry")) == (kind, 0, [])
    assert error.hint is not None
    assert error.hint.startswith(hint)
    assert any(note.endswith("given up (budget_spent)") for note in error.__notes__)


async def test_the_headers_of_another_failure_say_nothing_about_a_limit(service: Service) -> None:
    headers = {**GONE, "x-ratelimit-reset-requests": "50"}
    hooks = Hooks()
    with service.server([ANSWER], faults=[Fault(status=503, headers=headers)]) as server:
        async with provider_of(
            service, server.url, hooks, max_retries=1, throttle_delay=0.0
        ) as provider:
            await provider.complete(REQUEST)
    assert [told["delay"] for told in hooks.data("provider:retry")] == [1.0]


async def test_a_limit_inside_a_stream_asks_for_the_wait_of_its_headers(service: Service) -> None:
    headers = {**GONE, "x-ratelimit-reset-requests": "50"}
    said: Any = {"kind": "rate_limit_error", "code": "rate_limit_exceeded"}
    hooks = Hooks()
    with service.server([ANSWER], faults=[Fault(error_after=0, headers=headers, **said)]) as server:
        async with provider_of(
            service, server.url, hooks, max_retries=1, throttle_delay=0.0
        ) as provider:
            await provider.complete(REQUEST)
    [told] = hooks.data("provider:retry")
    assert told["delay"] == pytest.approx(50, abs=0.5)


@pytest.mark.parametrize(
    ("text", "wait"),
    [
        ("1970-01-01T00:16:50Z", 10),
        ("1970-01-01T00:16:50", 10),
        ("1970-01-01T01:16:50+01:00", 10),
        ("1000000010", None),
        ("P1D", None),
        ("0001-01-01T00:00:00", None),
        ("9999-12-31T23:59:59+00:00", None),
    ],
)
def test_a_moment_is_one_of_the_calendar(text: str, wait: float | None) -> None:
    assert reset_wait({"x-ratelimit-reset": text}, lambda: 1_000.0) == wait


@pytest.mark.parametrize("text", ["1700000010", "1700000010000", "2023-11-14T22:13:30Z"])
def test_a_number_of_that_size_is_a_moment(text: str) -> None:
    assert reset_wait({"X-RateLimit-Reset": text}, lambda: 1_700_000_000.0) == 10


NAMES = [
    f"{start}{what}{end}"
    for start in ("x-ratelimit-", "ratelimit-", "anthropic-ratelimit-tokens-")
    for what in ("limit", "remaining", "reset")
    for end in ("", "-tokens")
]


@given(st.dictionaries(st.sampled_from(NAMES), st.text(max_size=30) | st.floats().map(str)))
def test_no_header_asks_for_more_than_a_day(headers: dict[str, str]) -> None:
    wait = reset_wait(headers)
    assert wait is None or 0 < wait <= 86_400
