"""Refusals of every provider, decoded from Python."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_stream import StreamDecoder, decode_error

DIALECTS = ("anthropic", "responses", "chat", "ollama")


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> str:
    return request.param


def wait(dialect: str, headers: dict[str, str]) -> float | None:
    return decode_error(dialect, 429, headers, b"")["retry_after"]


def test_an_error_has_all_its_fields(dialect: str) -> None:
    body = b"""{"error": {"message": "No such model", "type": "invalid_request_error",
        "param": "model", "code": "model_not_found"}, "request_id": "req_1"}"""
    error: dict[str, Any] = {
        "type": "invalid_request_error",
        "code": "model_not_found",
        "status": 404,
        "message": "No such model",
        "retryable": False,
        "retry_after": 2.5,
        "details": {"param": "model"},
        "request_id": "req_1",
    }
    assert decode_error(dialect, 404, {"Retry-After": "2.5"}, body) == error

    decoder = StreamDecoder(dialect, 404, {"retry-after": "2.5"})
    assert [event for place in range(len(body)) for event in decoder.feed(body[place:][:1])] == []
    result = decoder.finish()
    assert result.request_id == error.pop("request_id")
    assert (result.error, result.truncated, result.blocks) == (error, False, [])


# Holds: stream-10
@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "HTTP status 502 without a body"),
        (b" \n", "HTTP status 502 without a body"),
        (b"<html><h1>Bad gateway</h1></html>", "<html><h1>Bad gateway</h1></html>"),
        (b'{"error": {"message": "Bad ga', '{"error": {"message": "Bad ga'),
        (b'{"error": "Bad gateway"}', "Bad gateway"),
        (b'{"error": {"code": "BadGateway", "details": "Bad gateway"}}', "Bad gateway"),
        (b'{"statusCode": 502, "message": "Bad gateway"}', "Bad gateway"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"x" * 10_000, "x" * 500),
    ],
)
def test_any_body_is_an_error_with_a_message(dialect: str, body: bytes, message: str) -> None:
    error = decode_error(dialect, 502, None, body)
    assert (error["type"], error["message"], error["retryable"]) == ("api_error", message, True)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after-ms": "-1", "retry-after": "0.25"}, 0.25),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "86400"}, 86_400.0),
        ({"retry-after": "86401"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "a while"}, None),
        (
            {
                "date": "Wed, 21 Oct 2015 07:28:00 GMT",
                "retry-after": "Wed, 21 Oct 2015 07:29:30 GMT",
            },
            90.0,
        ),
        ({"retry-after": "Wed, 21 Oct 2015 07:29:30 GMT"}, None),
        ({"retry-after": "Wed, 21 Oct 2115 07:29:30 GMT"}, None),
        ({}, None),
    ],
)
def test_a_wait_is_told_where_it_makes_sense(
    dialect: str, headers: dict[str, str], seconds: float | None
) -> None:
    assert wait(dialect, headers) == seconds


def test_the_server_decides_whether_to_try_again(dialect: str) -> None:
    def retryable(status: int, **headers: str) -> bool:
        return decode_error(dialect, status, headers, b"")["retryable"]

    passing = [status for status in range(400, 600) if retryable(status)]
    assert passing == [408, 409, 429, *range(500, 600)]
    assert retryable(400, **{"x-should-retry": "true"})
    assert not retryable(503, **{"X-Should-Retry": "false"})
    assert retryable(503, **{"x-should-retry": "perhaps"})


def test_a_spent_quota_does_not_come_back_by_waiting(dialect: str) -> None:
    body = b'{"error": {"code": "insufficient_quota", "message": "Pay"}}'
    error = decode_error(dialect, 429, None, body)
    assert (error["code"], error["retryable"]) == ("insufficient_quota", False)


def test_a_filter_of_azure_says_why_it_blocked() -> None:
    inner = '{"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"hate": {}}}'
    body = f'{{"error": {{"code": "content_filter", "message": "No", "innererror": {inner}}}}}'
    error = decode_error("responses", 400, {"apim-request-id": "req_7"}, body.encode())
    assert error == {
        "type": "invalid_request_error",
        "code": "content_filter",
        "status": 400,
        "message": "No",
        "retryable": False,
        "retry_after": None,
        "details": {
            "innererror": {
                "code": "ResponsibleAIPolicyViolation",
                "content_filter_result": {"hate": {}},
            }
        },
        "request_id": "req_7",
    }
