"""What a service refuses is the error of its kind, with its status, its wait and its advice."""

from __future__ import annotations

import json
import traceback
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from services import KEY, REQUEST, Service, provider_of

from amplifier_core import llm_errors
from amplifier_core.llm_errors import LLMError
from amplifier_testing.servers import Fault, http_date

REFUSED = "the key was refused; check `{key}`"
LACKS = "the key lacks access; check its permissions"
NO_CREDIT = "the account has no credit left; check its billing"
NOT_FOUND = "check the name of the model and `{address}`"
TOO_LONG = "the conversation is too long for the model; shorten it"
INVALID = "check the model and the settings of {module}"
FILTERED = "a content filter of the service objects; rephrase the prompt"
SLOW = "the server took too long; retry"
MANY = "too many requests; retry later"
DOWN = "the server is unavailable; retry later"


@dataclass(frozen=True)
class Case:
    """A refusal, and what is made of it."""

    fault: Fault
    kind: type[LLMError]
    hint: str
    retryable: bool = False
    retry_after: tuple[float, float] | None = None
    """The least and the most seconds."""
    until: float | None = None
    """So many seconds after the request the server wants to be asked again, as a date."""
    says: tuple[str, ...] = field(default=())


def body(**error: Any) -> bytes:
    return json.dumps({"error": {"type": None, "message": "no", **error}}).encode()


def later(seconds: float, hint: str) -> str:
    return hint.replace("retry later", f"retry in {seconds:g} s")


CASES = {
    "400": Case(Fault(status=400), llm_errors.InvalidRequestError, INVALID),
    "401": Case(Fault(status=401), llm_errors.AuthenticationError, REFUSED),
    "402": Case(Fault(status=402), llm_errors.QuotaExceededError, NO_CREDIT),
    "403": Case(Fault(status=403), llm_errors.AccessDeniedError, LACKS),
    "404": Case(Fault(status=404), llm_errors.NotFoundError, NOT_FOUND),
    "408": Case(Fault(status=408), llm_errors.LLMTimeoutError, SLOW, retryable=True),
    "409": Case(Fault(status=409), llm_errors.ProviderUnavailableError, DOWN, retryable=True),
    "413": Case(Fault(status=413), llm_errors.ContextLengthError, TOO_LONG),
    "422": Case(Fault(status=422), llm_errors.InvalidRequestError, INVALID),
    "429": Case(Fault(status=429), llm_errors.RateLimitError, MANY, retryable=True),
    "500": Case(Fault(status=500), llm_errors.ProviderUnavailableError, DOWN, retryable=True),
    "502": Case(Fault(status=502), llm_errors.ProviderUnavailableError, DOWN, retryable=True),
    "503": Case(Fault(status=503), llm_errors.ProviderUnavailableError, DOWN, retryable=True),
    "504": Case(Fault(status=504), llm_errors.LLMTimeoutError, SLOW, retryable=True),
    "529": Case(Fault(status=529), llm_errors.ProviderUnavailableError, DOWN, retryable=True),
    "429 for seconds": Case(
        Fault(status=429, headers={"retry-after": "7"}),
        llm_errors.RateLimitError,
        later(7, MANY),
        retryable=True,
        retry_after=(7, 7),
    ),
    "429 for a part of a second": Case(
        Fault(status=429, headers={"retry-after": "1.5"}),
        llm_errors.RateLimitError,
        later(2, MANY),
        retryable=True,
        retry_after=(1.5, 1.5),
    ),
    "429 for milliseconds": Case(
        Fault(status=429, headers={"retry-after-ms": "250", "retry-after": "9"}),
        llm_errors.RateLimitError,
        later(1, MANY),
        retryable=True,
        retry_after=(0.25, 0.25),
    ),
    "429 until a date": Case(
        Fault(status=429),
        llm_errors.RateLimitError,
        "",
        retryable=True,
        retry_after=(3_000, 3_600),
        until=3_600,
    ),
    "429 until a date that is over": Case(
        Fault(status=429, headers={"retry-after": http_date(-60)}),
        llm_errors.RateLimitError,
        MANY,
        retryable=True,
        retry_after=None,
    ),
    "429 with a wait that is none": Case(
        Fault(status=429, headers={"retry-after": "soon"}),
        llm_errors.RateLimitError,
        MANY,
        retryable=True,
    ),
    "503 for seconds": Case(
        Fault(status=503, headers={"retry-after": "40"}),
        llm_errors.ProviderUnavailableError,
        later(40, DOWN),
        retryable=True,
        retry_after=(40, 40),
    ),
    "429 that may not be repeated": Case(
        Fault(status=429, headers={"x-should-retry": "false"}),
        llm_errors.RateLimitError,
        MANY,
    ),
    "400 that may be repeated": Case(
        Fault(status=400, headers={"x-should-retry": "true"}),
        llm_errors.InvalidRequestError,
        INVALID,
        retryable=True,
    ),
    "no quota": Case(
        Fault(status=429, kind="insufficient_quota", code="insufficient_quota"),
        llm_errors.QuotaExceededError,
        NO_CREDIT,
    ),
    "the hard limit": Case(
        Fault(status=400, body=body(code="billing_hard_limit_reached")),
        llm_errors.QuotaExceededError,
        NO_CREDIT,
    ),
    "the spend limit": Case(
        Fault(
            status=429,
            headers={"retry-after": "1"},
            body=body(
                type="rate_limit_error", details={"error_code": "enforced_spend_limit_reached"}
            ),
        ),
        llm_errors.QuotaExceededError,
        NO_CREDIT,
        retry_after=(1, 1),
    ),
    "no credit": Case(
        Fault(status=400, message="Your credit balance is too low to access the API."),
        llm_errors.QuotaExceededError,
        NO_CREDIT,
    ),
    "too long, by its code": Case(
        Fault(status=400, body=body(code="context_length_exceeded")),
        llm_errors.ContextLengthError,
        TOO_LONG,
    ),
    "too long, by its text": Case(
        Fault(status=400, message="prompt is too long: 3 tokens > 2 maximum"),
        llm_errors.ContextLengthError,
        TOO_LONG,
    ),
    "the filter of Azure": Case(
        Fault(
            status=400,
            body=body(
                code="content_filter",
                param="prompt",
                innererror={"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}},
            ),
        ),
        llm_errors.ContentFilterError,
        FILTERED,
    ),
    "the filter of Azure, by its inner error": Case(
        Fault(status=400, body=body(innererror={"code": "ResponsibleAIPolicyViolation"})),
        llm_errors.ContentFilterError,
        FILTERED,
    ),
    "no deployment": Case(
        Fault(status=404, body=body(code="DeploymentNotFound")),
        llm_errors.NotFoundError,
        NOT_FOUND,
    ),
    "a page": Case(
        Fault(status=502, body="html"),
        llm_errors.ProviderUnavailableError,
        DOWN,
        retryable=True,
        says=("(502 api_error): Bad gateway Bad gateway nginx (",),
    ),
    "a page of 401": Case(
        Fault(status=401, body="html"), llm_errors.AuthenticationError, REFUSED
    ),
    "nothing": Case(
        Fault(status=503, body="empty"),
        llm_errors.ProviderUnavailableError,
        DOWN,
        retryable=True,
        says=("(503 api_error): HTTP status 503 without a body (",),
    ),
    "no JSON": Case(
        Fault(status=500, body=b"{oops"),
        llm_errors.ProviderUnavailableError,
        DOWN,
        retryable=True,
        says=("(500 api_error): {oops (",),
    ),
    "an echo of the key": Case(
        Fault(status=400, message=f"the key {KEY} is\x1b[2J odd\nindeed"),
        llm_errors.InvalidRequestError,
        INVALID,
        says=(" is [2J odd indeed (",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
async def test_a_refusal_is_the_error_of_its_kind_with_its_advice(
    service: Service, name: str
) -> None:
    case = CASES[name]
    date = {} if case.until is None else {"retry-after": http_date(case.until)}
    fault = replace(case.fault, headers={**case.fault.headers, **date})
    with service.server(faults=[fault]) as server:
        async with provider_of(service, server.url) as provider:
            with pytest.raises(LLMError) as caught:
                await provider.complete(REQUEST)
        assert server.refusals == []

    error, status = caught.value, case.fault.status
    assert type(error) is case.kind
    assert (error.provider, error.model, error.status_code, error.retryable) == (
        service.name, service.model, status, case.retryable,
    )  # fmt: skip
    if case.retry_after is None:
        assert not error.retry_after
    else:
        least, most = case.retry_after
        assert least <= (error.retry_after or 0) <= most
    if case.hint:
        assert error.hint == case.hint.format(
            key=service.key_from, address=service.address_from, module=service.module
        )
        assert f"hint: {error.hint}" in error.__notes__
    text = str(error)
    assert text.startswith(f"{service.title} API error ({status} ")
    assert f" {service.request_id}" in text
    for part in case.says:
        assert (part if service.request_id else part.removesuffix(" (")) in text
    assert "\n" not in text
    assert KEY not in "".join(traceback.format_exception(error)) + repr(error)


@pytest.mark.parametrize("name", ["401", "429 for seconds", "503 for seconds", "a page", "nothing"])
async def test_a_refused_list_of_models_is_the_same_error(service: Service, name: str) -> None:
    case = CASES[name]
    with service.server(faults=[case.fault]) as server:
        async with provider_of(service, server.url) as provider:
            with pytest.raises(LLMError) as caught:
                await provider.list_models()

    error = caught.value
    assert (type(error), error.model, error.status_code) == (case.kind, None, case.fault.status)
    assert error.hint == service.hint(case.hint)
    assert str(error).startswith(f"{service.title} API error ({case.fault.status} ")


async def test_a_redirect_is_not_followed(service: Service) -> None:
    place = f"https://example.com/?key={KEY}"
    with service.server(faults=[Fault(status=307, headers={"location": place})] * 2) as server:
        async with provider_of(service, server.url) as provider:
            for call in (provider.complete(REQUEST), provider.list_models()):
                with pytest.raises(llm_errors.ConfigurationError) as caught:
                    await call
                error = caught.value
                assert str(error).startswith(f"`{server.url}/")
                assert "answered with status 307, a redirect to `https://example.com/" in str(error)
                assert (error.status_code, error.retryable) == (307, False)
                assert error.hint == f"set `{service.address_from}` to the final address"
                assert KEY not in "".join(traceback.format_exception(error))
        assert len(server.requests) == 2


@pytest.mark.parametrize("kind", ["text/html", "", "text/plain"])
async def test_an_answer_of_another_type_is_a_wrong_address(service: Service, kind: str) -> None:
    with service.server(faults=[Fault(content_type=kind)]) as server:
        async with provider_of(service, server.url) as provider:
            with pytest.raises(llm_errors.ConfigurationError) as caught:
                await provider.complete(REQUEST)
        url = server.url + service.path

    error, found = caught.value, f"`{kind}`" if kind else "no content type"
    assert str(error) == f"`{url}` answered with {found} instead of an event stream"
    assert (error.hint, error.retryable, error.status_code) == (
        f"check `{service.address_from}`", False, 200,
    )  # fmt: skip


async def test_a_page_in_place_of_the_models_is_a_wrong_address(service: Service) -> None:
    # A refusal with a status of success is a body of the test's own.
    fault = Fault(status=203, body="html")
    with service.server(faults=[fault]) as server:
        async with provider_of(service, server.url) as provider:
            with pytest.raises(llm_errors.ConfigurationError) as caught:
                await provider.list_models()

    assert "answered with other content instead of a list of models" in str(caught.value)
    assert caught.value.hint == f"check `{service.address_from}`"
