"""A call that fails is repeated after the wait that the server asks for, and never once it is shown."""

from __future__ import annotations

from typing import Any

import pytest
from services import ANSWER, REQUEST, Hooks, Service, provider_of

from amplifier_core.llm_errors import LLMError, ProviderUnavailableError, StreamError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_providers.answers.pieces import text_of_piece
from amplifier_providers.wire.provider import WireProvider
from amplifier_testing.servers import Answer, Fault, http_date

TALE = "Once upon a time there was a stream. " * 4
LONG = Answer(TALE, fragment=4)
PLAIN = ChatRequest(messages=[Message(role="user", content="hi")])
LIMITED: dict[str, tuple[dict[str, str], tuple[float, float]]] = {
    "seconds": ({"retry-after": "33"}, (33, 33)),
    "a part of a second": ({"retry-after": "2.5"}, (2.5, 2.5)),
    "milliseconds": ({"retry-after-ms": "1500", "retry-after": "60"}, (1.5, 1.5)),
    "a date": ({}, (400, 500)),
    "no wait": ({}, (1, 1)),
}


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("form", LIMITED)
async def test_the_wait_is_the_one_that_the_server_asks_for(
    service: Service, form: str, status: int
) -> None:
    headers, (least, most) = LIMITED[form]
    if form == "a date":  # from now on, not from the start of all tests
        headers = {"retry-after": http_date(500)}
    hooks = Hooks()
    with service.server([ANSWER], faults=[Fault(status=status, headers=headers)]) as server:
        async with provider_of(service, server.url, hooks, max_retries=2) as provider:
            assert (await provider.complete(REQUEST)).finish_reason == "tool_use"
        first, second = server.requests
        assert server.refusals == []

    assert first.raw == second.raw
    [told] = hooks.data("provider:retry")
    assert least <= told["delay"] <= most
    assert (told["provider"], told["model"], told["status_code"]) == (
        service.name, service.model, status,
    )  # fmt: skip
    names = hooks.names()
    assert (names.count("llm:request"), names.count("llm:response")) == (1, 1)
    assert names.index("provider:retry") < names.index("content_block:start")


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=408),
        Fault(status=409),
        Fault(status=500),
        Fault(status=502, body="html"),
        Fault(status=503, body="empty"),
        Fault(status=504),
        Fault(status=529),
        Fault(status=400, headers={"x-should-retry": "true"}),
        Fault(hang_up=True),
        Fault(cut=0),
        Fault(error_after=0),
    ],
    ids=lambda fault: str(fault.status or fault)[:40],
)
async def test_what_may_pass_is_asked_for_again(service: Service, fault: Fault) -> None:
    hooks = Hooks()
    with service.server([ANSWER] * 3, faults=[fault, fault]) as server:
        async with provider_of(service, server.url, hooks, max_retries=2) as provider:
            assert (await provider.complete(REQUEST)).finish_reason == "tool_use"
        assert len({request.raw for request in server.requests}) == 1
        assert len(server.requests) == 3
        assert server.refusals == []

    factor = 10 if fault.status == 529 else 1
    assert [told["delay"] for told in hooks.data("provider:retry")] == [factor, 2 * factor]
    assert hooks.names().count("content_block:start") == hooks.names().count("content_block:end")


@pytest.mark.parametrize(
    "fault",
    [
        *(Fault(status=status) for status in (400, 401, 402, 403, 404, 413, 422)),
        *(Fault(status=s, headers={"x-should-retry": "false"}) for s in (429, 500, 503, 529)),
        Fault(status=429, code="insufficient_quota", kind="insufficient_quota"),
        Fault(status=307, headers={"location": "https://example.com/"}),
        Fault(content_type="text/html"),
        Fault(error_after=0, kind="authentication_error"),
    ],
    ids=lambda fault: f"{fault.status}{'-no' if fault.headers else ''}{fault.kind or ''}",
)
async def test_what_does_not_pass_is_told_at_once(service: Service, fault: Fault) -> None:
    hooks = Hooks()
    with service.server(faults=[fault]) as server:
        async with provider_of(service, server.url, hooks, max_retries=5) as provider:
            with pytest.raises(LLMError):
                await provider.complete(PLAIN)
        assert len(server.requests) == 1

    assert hooks.data("provider:retry") == []


DAMAGE = [
    (Fault(cut=3_000), StreamError),
    (Fault(malformed=12), StreamError),
    (Fault(error_after=12), ProviderUnavailableError),
]
"""What comes in the middle of `LONG`."""
in_the_middle = pytest.mark.parametrize(
    ("fault", "kind"), DAMAGE, ids=["cut", "malformed", "error"]
)


@in_the_middle
async def test_an_answer_of_which_a_part_was_shown_is_not_asked_for_again(
    service: Service, fault: Fault, kind: type[LLMError]
) -> None:
    hooks = Hooks()
    with service.server([LONG], faults=[fault]) as server:
        async with provider_of(service, server.url, hooks, max_retries=5) as provider:
            with pytest.raises(kind):
                await provider.complete(PLAIN)
        assert len(server.requests) == 1

    assert "content_block:delta" in hooks.names()
    assert hooks.data("provider:retry") == []


@pytest.mark.parametrize("by", ["setting", "option"])
@in_the_middle
async def test_what_was_shown_is_taken_back_if_the_caller_wants_the_answer_again(
    service: Service, fault: Fault, kind: type[LLMError], by: str
) -> None:
    del kind
    hooks = Hooks()
    given = {"retry_shown": True} if by == "setting" else {}
    options = {"retry_shown": True} if by == "option" else {}
    with service.server([LONG, LONG], faults=[fault]) as server:
        async with provider_of(service, server.url, hooks, max_retries=1, **given) as provider:
            response = await provider.complete(PLAIN, **options)
        assert len(server.requests) == 2

    assert response.content[-1].text == TALE  # pyright: ignore[reportAttributeAccessIssue]
    names = hooks.names()
    retry = names.index("provider:retry")
    before, after = hooks.events[:retry], hooks.events[retry:]
    begun = [data["block_index"] for name, data in before if name == "content_block:start"]
    void = [data for name, data in before if name == "content_block:end" and data.get("dropped")]
    assert sorted(data["block_index"] for data in void) == sorted(begun)
    assert all(data["block"] == {"type": data["block_type"]} for data in void)
    again = [data for name, data in after if name.startswith("content_block:")]
    assert [data["block_index"] for data in again if "metadata" in data] == begun
    assert not any(data.get("dropped") for data in again)
    text = "".join(data.get("delta") or "" for data in again if data["block_type"] == "text")
    assert text == TALE


async def test_an_answer_that_always_fails_leaves_nothing_shown_of_all_but_the_last(
    service: Service,
) -> None:
    hooks = Hooks()
    faults = [Fault(cut=3_000)] * 3
    with service.server([LONG] * 3, faults=faults) as server:
        async with provider_of(
            service, server.url, hooks, max_retries=2, retry_shown=True
        ) as provider:
            with pytest.raises(StreamError):
                await provider.complete(PLAIN)
        assert len(server.requests) == 3
    names = hooks.names()
    dropped = [data for data in hooks.data("content_block:end") if data.get("dropped")]
    assert 3 * len(dropped) == 2 * names.count("content_block:start")


async def test_no_option_makes_a_text_be_yielded_again(service: Service) -> None:
    yielded: list[Any] = []

    async def receive(provider: WireProvider) -> None:
        async for piece in provider.chunks(PLAIN, retry_shown=True):
            yielded.append(piece)  # noqa: PERF401 -- what came before the error counts

    with service.server([LONG], faults=[Fault(cut=3_000)]) as server:
        async with provider_of(service, server.url, max_retries=5, retry_shown=True) as provider:
            with pytest.raises(StreamError):
                await receive(provider)
        assert len(server.requests) == 1
    assert TALE.startswith("".join(map(text_of_piece, yielded)))


@in_the_middle
async def test_an_answer_that_nobody_watches_is_asked_for_again(
    service: Service, fault: Fault, kind: type[LLMError]
) -> None:
    del kind
    with service.server([LONG, ANSWER], faults=[fault]) as server:
        async with provider_of(service, server.url, max_retries=1) as provider:
            assert (await provider.complete(REQUEST)).finish_reason == "tool_use"
        assert len(server.requests) == 2


@in_the_middle
async def test_a_text_that_was_yielded_is_not_yielded_again(
    service: Service, fault: Fault, kind: type[LLMError]
) -> None:
    yielded: list[Any] = []

    async def receive(provider: WireProvider) -> None:
        async for piece in provider.chunks(PLAIN):
            yielded.append(piece)  # noqa: PERF401 -- what came before the error counts

    with service.server([LONG], faults=[fault]) as server:
        async with provider_of(service, server.url, max_retries=5) as provider:
            with pytest.raises(kind):
                await receive(provider)
        assert len(server.requests) == 1

    assert yielded
    assert TALE.startswith("".join(map(text_of_piece, yielded)))


async def test_the_last_error_is_the_one_that_is_raised(service: Service) -> None:
    hooks = Hooks()
    faults = [Fault(status=500), Fault(status=503), Fault(status=529)]
    with service.server(faults=faults) as server:
        async with provider_of(service, server.url, hooks, max_retries=2) as provider:
            with pytest.raises(ProviderUnavailableError) as caught:
                await provider.complete(PLAIN)
        assert len(server.requests) == 3

    assert caught.value.status_code == 529
    assert caught.value.__notes__[0].endswith("given up (retries_exhausted)")
    assert [told["reason"] for told in hooks.data("provider:retry")] == [
        "server error (500)", "server error (503)",
    ]  # fmt: skip


async def test_the_list_of_models_is_asked_for_again(service: Service) -> None:
    with service.server(faults=[Fault(status=503), Fault(cut=10), Fault(hang_up=True)]) as server:
        async with provider_of(service, server.url, max_retries=3) as provider:
            assert await provider.list_models()
        assert len(server.requests) == 4
