"""What a service, a network and a model do wrong, as errors of this package."""

from __future__ import annotations

import json
import os
import socket
from typing import Any

import pytest
from called_services import KEY, SERVICES
from deltas_read import streamed

from amplifier_core import llm_errors
from amplifier_testing.servers import Answer, Fault
from amplifier_testing.servers import Call as Made
from arcllm import ArcLLMAPIError, ArcLLMConfigError, ArcLLMParseError, Message, Tool
from arcllm.providers.open import open_provider
from arcllm.step import Call, Step

AT = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
QUESTION = Call(
    [Message(role="user", content="hi")], [Tool(name="look", description="d", parameters=AT)]
)


async def complete(step: Step, call: Call) -> Any:
    return await step.complete(call)


ASKS = pytest.mark.parametrize("ask", [complete, streamed])


# Holds: arcllm-10
@ASKS
@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize(
    ("fault", "status", "retryable", "retry_after"),
    [
        (Fault(status=429, headers={"retry-after": "7"}), 429, True, 7),
        (Fault(status=503), 503, True, None),
        (Fault(status=401), 401, False, None),
        (Fault(status=400), 400, False, None),
        (Fault(hang_up=True), None, True, None),
        (Fault(cut=40), None, True, None),
    ],
)
async def test_a_failure_is_one_request_and_one_error(
    name: str,
    ask: Any,
    fault: Fault,
    status: int | None,
    retryable: bool,
    retry_after: float | None,
) -> None:
    async with SERVICES[name].asking(["a", "b", "after it"], faults=[fault]) as (step, server):
        with pytest.raises(ArcLLMAPIError) as caught:
            await ask(step, QUESTION)
        assert len(server.requests) == 1
        error = caught.value
        assert (error.status_code, error.retryable, error.retry_after) == (
            status, retryable, retry_after,
        )  # fmt: skip
        assert error.provider == SERVICES[name].name
        assert isinstance(error.__cause__, llm_errors.LLMError)
        assert error.body
        assert KEY not in repr(error)
        assert "provider-" not in str(error)
        assert (await ask(step, QUESTION)).content


@ASKS
async def test_an_error_has_the_body_of_the_service_without_secrets(ask: Any) -> None:
    sent = {"error": {"message": f"not with {KEY}, {'no ' * 300}"}, "why": ["quota"]}
    fault = Fault(status=403, body=json.dumps(sent).encode())
    async with SERVICES["openai_chat"].asking(faults=[fault]) as (step, _):
        with pytest.raises(ArcLLMAPIError) as caught:
            await ask(step, QUESTION)
    error = caught.value
    assert KEY not in repr(error)
    body = json.loads(error.body)
    assert (body["why"], len(body["error"]["message"]) > 900) == (["quota"], True)
    assert len(str(error)) < 700
    assert str(error).startswith("`openai_chat`: Chat Completions API error (403 ")


@ASKS
async def test_many_failures_in_a_row_do_not_stop_the_next_call(ask: Any) -> None:
    faults = [Fault(status=500)] * 15
    async with SERVICES["anthropic"].asking(["fine"], faults=faults) as (step, server):
        for _ in faults:
            with pytest.raises(ArcLLMAPIError):
                await ask(step, QUESTION)
        assert (await ask(step, QUESTION)).content == "fine"
    assert len(server.requests) == 16


@ASKS
async def test_nobody_at_an_address_is_an_error_that_names_it(ask: Any) -> None:
    settings = {"api_key": KEY, "base_url": "http://127.0.0.1:9"}
    step = open_provider("anthropic", None, settings)
    with pytest.raises(ArcLLMAPIError, match=r"cannot connect to `http://127.0.0.1:9") as caught:
        await ask(step, QUESTION)
    assert (caught.value.status_code, caught.value.retryable) == (None, True)
    assert caught.value.hint == "check `ANTHROPIC_BASE_URL` and the network"


# Holds: arcllm-10
async def test_the_limit_of_a_service_is_no_reason_to_wait() -> None:
    nothing_left = Fault(
        status=200,
        headers={
            "anthropic-ratelimit-requests-limit": "50",
            "anthropic-ratelimit-requests-remaining": "0",
            "anthropic-ratelimit-requests-reset": "2099-01-01T00:00:00Z",
        },
    )
    waits: list[float] = []
    async with SERVICES["anthropic"].asking(["a", "b"], faults=[nothing_left]) as (step, _):
        provider: Any = step.provider()  # pyright: ignore[reportAttributeAccessIssue] -- of ours

        async def wait(seconds: float) -> None:
            waits.append(seconds)

        provider._retries.wait = wait
        provider._load._sleep = wait
        assert [(await step.complete(QUESTION)).content for _ in range(2)] == ["a", "b"]
    assert waits == []


@ASKS
@pytest.mark.parametrize("name", ["anthropic", "openai", "openai_chat"])
async def test_arguments_that_are_no_json_are_an_error_that_has_them(name: str, ask: Any) -> None:
    answers = [Answer("Let me look.", Made("look", '{"at": "a', id="call1a2b3"))]
    async with SERVICES[name].asking(answers) as (step, _):
        with pytest.raises(ArcLLMParseError) as caught:
            await ask(step, QUESTION)
    error = caught.value
    assert error.raw_string == '{"at": "a'
    assert error.response is not None
    assert (error.response.content, error.response.tool_calls) == ("Let me look.", [])
    assert error.response.usage.output_tokens > 0
    (unparsed,) = error.response.metadata["unparsed_calls"]
    assert (unparsed["id"], unparsed["name"]) == ("call1a2b3", "look")


@ASKS
async def test_what_cannot_be_sent_is_refused_before_a_request(ask: Any) -> None:
    async with SERVICES["anthropic"].asking() as (step, server):
        for call in (
            Call([Message(role="tool", content="sunny")]),
            Call(QUESTION.messages, options={"temprature": 1}),
        ):
            with pytest.raises(ArcLLMConfigError):
                await ask(step, call)
        with pytest.raises(ArcLLMAPIError, match="no message to send"):
            await ask(step, Call([]))
    assert server.requests == []


def test_a_setting_that_cannot_work_is_an_error_of_the_configuration() -> None:
    with pytest.raises(ArcLLMConfigError) as caught:
        open_provider("anthropic", None, {"api_key": KEY, "max_tokens": 0})
    assert isinstance(caught.value.__cause__, llm_errors.ConfigurationError)


@ASKS
async def test_a_proxy_that_takes_no_connection_is_named_without_its_password(
    ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in os.environ:
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setenv("ALL_PROXY", f"http://me:correct-horse@127.0.0.1:{port}")
    step = open_provider("openai", "gpt-5.5", {"api_key": KEY})

    with pytest.raises(ArcLLMAPIError) as caught:
        await ask(step, QUESTION)
    await step.close()

    error = caught.value
    assert f"through the proxy `127.0.0.1:{port}`: Connection refused" in str(error)
    assert str(error.hint).startswith("check the proxy (`HTTPS_PROXY`")
    assert "correct-horse" not in f"{error!r} {error.__cause__!r}"
