"""A stream that is wrong is never an answer: no call of it is run, and the error says so."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import anyio
import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from services import ANSWER, REQUEST, SERVICES, Hooks, Service, provider_of

from amplifier_core import llm_errors
from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatResponse
from amplifier_testing.servers import Fault, ModelServer

NOT_RUN = "no tool call of the answer was run; retry"
PLACES = (0, 1, 3, 4, 5)
"""Places of events that each stream has, and that matter: the third of Anthropic is a ping."""


async def failure(
    service: Service, fault: Fault, hooks: Hooks | None = None, **given: Any
) -> LLMError:
    """The error of a call whose answer a fault damages."""
    with service.server([ANSWER], faults=[fault]) as server:
        async with provider_of(service, server.url, hooks, **given) as provider:
            with pytest.raises(LLMError) as caught:
                await provider.complete(REQUEST)
        assert server.refusals == []
        assert len(server.requests) == 1
    return caught.value


@pytest.mark.parametrize("place", PLACES)
async def test_an_event_that_is_no_json_ends_the_answer(service: Service, place: int) -> None:
    hooks = Hooks()
    error = await failure(service, Fault(malformed=place), hooks)

    assert (type(error), error.retryable, error.hint) == (llm_errors.StreamError, True, NOT_RUN)
    assert str(error).startswith(f"{service.title} API error (invalid_stream): ")
    assert service.no_json in str(error)
    assert service.request_id in str(error)
    assert (error.provider, error.model) == (service.name, service.model)
    assert hooks.events[-1][1]["error"] == {"type": "StreamError", "msg": str(error)}


@pytest.mark.parametrize("event", [b"data: [1, 2]\n\n", b"data: oops\n\n", b"data: 1\n\n"])
async def test_an_event_of_another_kind_ends_the_answer(service: Service, event: bytes) -> None:
    error = await failure(service, Fault(insert={2: event}))
    assert (type(error), error.retryable, error.hint) == (llm_errors.StreamError, True, NOT_RUN)


ERRORS: dict[str, tuple[dict[str, Any], type[LLMError], bool, str]] = {
    "overloaded": (
        {"kind": "overloaded_error"},
        llm_errors.ProviderUnavailableError,
        True,
        "the server is unavailable; retry later",
    ),
    "failed": (
        {},
        llm_errors.ProviderUnavailableError,
        True,
        "the server is unavailable; retry later",
    ),
    "limited": (
        {"kind": "rate_limit_error", "code": "rate_limit_exceeded"},
        llm_errors.RateLimitError,
        True,
        "too many requests; retry later",
    ),
    "no quota": (
        {"kind": "insufficient_quota", "code": "insufficient_quota"},
        llm_errors.QuotaExceededError,
        False,
        "the account has no credit left; check its billing",
    ),
    "refused": (
        {"kind": "authentication_error"},
        llm_errors.AuthenticationError,
        False,
        "the key was refused; check `{key}`",
    ),
    "invalid": (
        {"kind": "invalid_request_error"},
        llm_errors.InvalidRequestError,
        False,
        "check the model and the settings of {module}",
    ),
    "too long": (
        {"kind": "invalid_request_error", "message": "prompt is too long: 3 tokens"},
        llm_errors.ContextLengthError,
        False,
        "the conversation is too long for the model; shorten it",
    ),
}


@pytest.mark.parametrize("after", [0, 1, 4])
@pytest.mark.parametrize("name", ERRORS)
async def test_an_error_inside_a_stream_counts_by_its_type(
    service: Service, name: str, after: int
) -> None:
    said, kind, retryable, hint = ERRORS[name]
    error = await failure(service, Fault(error_after=after, **said))

    assert (type(error), error.retryable) == (kind, retryable)
    assert error.hint == hint.format(
        key=service.key_from, address=service.address_from, module=service.module
    )
    assert str(error).startswith(f"{service.title} API error (")
    assert service.request_id in str(error)


async def test_a_connection_that_closes_before_the_answer_is_said_to_be_lost(
    service: Service,
) -> None:
    error = await failure(service, Fault(hang_up=True))
    assert (type(error), error.retryable) == (llm_errors.NetworkError, True)
    assert str(error).startswith("lost the connection to `http://127.0.0.1:")
    assert error.hint == f"check `{service.address_from}` and the network"


async def test_a_whole_answer_that_is_no_json_is_no_answer(service: Service) -> None:
    error = await failure(service, Fault(malformed=0), use_streaming=False)
    assert (type(error), error.retryable) == (llm_errors.StreamError, True)
    said, hint = service.broken_whole
    assert error.hint == hint
    assert said in str(error)
    assert str(error).startswith((f"{service.title} API error", "the answer of `"))
    assert "I need the file" not in str(error)


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, ModelServer]]:
    with ExitStack() as stack:
        yield {name: stack.enter_context(each.server()) for name, each in SERVICES.items()}


def length(server: ModelServer) -> int:
    """The bytes of the answer to the last request."""
    seen = server.requests[-1]
    kept = {name: text for name, text in seen.headers.items() if name not in {"host"}}
    server.answers, server.faults = [ANSWER], []
    answer = httpx2.post(f"{server.root}{seen.path}", headers=kept, content=seen.raw)
    assert answer.status_code == 200
    return len(answer.content)


async def asked(
    service: Service, server: ModelServer, fault: Fault | None, **given: Any
) -> ChatResponse | LLMError:
    server.answers, server.faults = [ANSWER], [fault]
    with anyio.fail_after(30):
        async with provider_of(service, server.url, **given) as provider:
            try:
                return await provider.complete(REQUEST)
            except LLMError as error:
                return error


def said(response: ChatResponse) -> Any:
    """What must not get lost; ids and signatures differ from one answer to the next."""
    calls = [(call.name, call.arguments) for call in response.tool_calls or []]
    texts = [getattr(block, "text", None) for block in response.content]
    return response.finish_reason, calls, texts


Known = dict[tuple[str, bool], tuple[Any, int]]


@pytest.fixture(scope="module")
def whole(servers: dict[str, ModelServer]) -> Known:
    """The answer of each service, streamed or not, and its length in bytes."""
    known: Known = {}
    for name, service in SERVICES.items():
        for streamed in (True, False):
            ask = functools.partial(asked, service, servers[name], None, use_streaming=streamed)
            response = anyio.run(ask)
            assert isinstance(response, ChatResponse)
            known[name, streamed] = said(response), length(servers[name])
    return known


# Holds: provider-25
@pytest.mark.parametrize("use_streaming", [True, False], ids=["streamed", "whole"])
@settings(deadline=None)
@given(data=st.data())
def test_a_cut_at_any_byte_is_the_whole_answer_or_none(
    servers: dict[str, ModelServer],
    whole: Known,
    use_streaming: bool,
    data: st.DataObject,
) -> None:
    name = data.draw(st.sampled_from(sorted(SERVICES)))
    service, server = SERVICES[name], servers[name]
    expected, size = whole[name, use_streaming]
    cut = data.draw(st.integers(0, size) | st.integers(max(0, size - 200), size))
    piece = data.draw(st.sampled_from([None, 1, 7]))
    backend = data.draw(st.sampled_from(["asyncio", "trio"]))
    fault = Fault(cut=cut, piece=piece)
    ask = functools.partial(asked, service, server, fault, use_streaming=use_streaming)

    found = anyio.run(ask, backend=backend)

    assert server.refusals == []
    if isinstance(found, ChatResponse):
        assert said(found) == expected
        assert cut > size - 200
        return
    assert (type(found), found.retryable) == (llm_errors.StreamError, True)
    assert str(found).startswith(f"the answer of `{service.model}` was cut off: ")
    assert "; no tool call of it was run" in str(found)
    assert service.request_id in str(found)
    assert found.hint == "retry"
