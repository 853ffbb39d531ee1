"""Answers without `[DONE]`: an end that HTTP vouches for completes them, any other cuts them off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hostile import head, hostile
from services import REQUEST, SERVICES, provider_of

from amplifier_core.llm_errors import LLMError, ProviderUnavailableError
from amplifier_core.message_models import ToolCall

CALL = (
    b'data:{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"f"}}]},'
    b'"finish_reason":"stop"}]}\n\n'
)
RUN = [ToolCall(id="a", name="f", arguments={})]
CUT = "the answer of `gpt-4.1` was cut off"
STREAM = "text/event-stream"


def chunked(body: bytes) -> bytes:
    """A response in two chunks, and the last one."""
    start = head(content_type=STREAM, transfer_encoding="chunked")
    pieces = (body[:50], body[50:], b"")
    return start + b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)


def counted(body: bytes) -> bytes:
    return head(content_type=STREAM, content_length=str(len(body))) + body


def counted_in_http_1_0(body: bytes) -> bytes:
    return counted(body).replace(b"HTTP/1.1", b"HTTP/1.0")


def closed(body: bytes) -> bytes:
    """A response that ends with its connection."""
    return head(content_type=STREAM) + body


def closed_in_http_1_0(body: bytes) -> bytes:
    return closed(body).replace(b"HTTP/1.1", b"HTTP/1.0")


async def answers_to(responses: Sequence[bytes]) -> list[Any]:
    """What a call of each response returns: the calls to run, or how its error begins."""
    left = iter(responses)
    found: list[Any] = []
    with hostile(lambda: [next(left)]) as server:
        async with provider_of(SERVICES["openai-chat"], server.url, breaker_failures=0) as provider:
            for _ in responses:
                try:
                    found.append((await provider.complete(REQUEST)).tool_calls)
                except LLMError as error:
                    found.append(str(error)[: len(CUT)])
    return found


# Holds: stream-3
@pytest.mark.parametrize("respond", [chunked, counted, counted_in_http_1_0])
async def test_an_answer_whose_body_http_ends_needs_no_done(
    respond: Callable[[bytes], bytes],
) -> None:
    assert await answers_to([respond(CALL)]) == [RUN]


@pytest.mark.parametrize("respond", [closed, closed_in_http_1_0])
async def test_an_answer_that_ends_with_its_connection_needs_done(
    respond: Callable[[bytes], bytes],
) -> None:
    responses = [respond(CALL), respond(CALL + b"data: [DONE]\n\n")]
    assert await answers_to(responses) == [CUT, RUN]


# Holds: stream-3
@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # where to cut is no matter of the loop
@pytest.mark.parametrize("respond", [chunked, counted])
async def test_no_call_runs_of_an_answer_that_is_cut_after_any_byte(
    respond: Callable[[bytes], bytes],
) -> None:
    response = respond(CALL)
    start = response.index(b"\r\n\r\n") + 4
    cuts = [response[:length] for length in range(start, len(response))]
    assert await answers_to(cuts) == [CUT] * len(cuts)


async def test_a_whole_body_without_a_finish_reason_is_cut_off() -> None:
    unfinished = CALL.replace(b'"stop"}', b"null}")
    assert await answers_to([chunked(unfinished), counted(b"")]) == [CUT, CUT]


async def test_an_error_line_in_a_stream_keeps_its_reason() -> None:
    said = b'error: {"code":500,"message":"the slot is gone","type":"server_error"}\n\n'
    service = SERVICES["openai-chat"]
    with hostile(lambda: [chunked(CALL + said)]) as server:
        async with provider_of(service, server.url) as provider:
            with pytest.raises(ProviderUnavailableError, match="the slot is gone"):
                await provider.complete(REQUEST)
