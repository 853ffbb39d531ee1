"""Errors of model services as `amplifier_core.llm_errors`, with advice as their `hint`."""

from __future__ import annotations

import errno
import math
import os
import re
from collections.abc import Mapping
from typing import Any, cast

from amplifier_core import llm_errors
from amplifier_core.llm_errors import LLMError

from ..services import is_here
from .service import Service

_MAX_MESSAGE_CHARS = 500
_MAX_NAME_CHARS = 100
_TOO_LONG = re.compile(
    r"(?:prompt|inputs?|messages|conversation) (?:is|are) too long|exceed\w* (?:the )?context|context (?:window|length|size)"
    r"|maximum context|too many tokens",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content filter|content management polic|blocked by .*polic", re.IGNORECASE)
_NO_CREDIT = re.compile(r"credit balance|spend(?:ing)? limit", re.IGNORECASE)
_BAD_KEY = re.compile(
    r"\b(?:incorrect|invalid|wrong|expired) api[ _-]?key\b(?! (?:parameter|argument|field|property))"
    r"|\bapi[ _-]?key (?:is |was |has )?(?:not valid|invalid|incorrect|wrong|expired)\b",
    re.IGNORECASE,
)
_INVISIBLE = re.compile(r"<(script|style)\b.*?</\1>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_REFUSED_BY_PROXY = re.compile(r"4\d\d ")
_PROXY_HINT = "check the proxy (`HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`) and the network"
_RETRY = re.compile(r"; retry(?: later)?$")

# The code of an error decides, then its type, then the status: a proxy may have written the body.
_BY_CODE: dict[str, type[LLMError]] = {
    "enforced_spend_limit_reached": llm_errors.QuotaExceededError,
    "insufficient_quota": llm_errors.QuotaExceededError,
    "billing_hard_limit_reached": llm_errors.QuotaExceededError,
    "context_length_exceeded": llm_errors.ContextLengthError,
    "too_many_prompt_tokens": llm_errors.ContextLengthError,
    "string_above_max_length": llm_errors.ContextLengthError,
    "content_filter": llm_errors.ContentFilterError,
    "content_policy_violation": llm_errors.ContentFilterError,
    "ResponsibleAIPolicyViolation": llm_errors.ContentFilterError,
    "invalid_api_key": llm_errors.AuthenticationError,
    "model_not_found": llm_errors.NotFoundError,
    "DeploymentNotFound": llm_errors.NotFoundError,
    "rate_limit_exceeded": llm_errors.RateLimitError,
    "RateLimitReached": llm_errors.RateLimitError,
    "server_error": llm_errors.ProviderUnavailableError,
}
_BY_TYPE: dict[str, type[LLMError]] = {
    "invalid_stream": llm_errors.StreamError,
    "stream_limit": llm_errors.StreamError,
    "authentication_error": llm_errors.AuthenticationError,
    "permission_error": llm_errors.AccessDeniedError,
    "billing_error": llm_errors.QuotaExceededError,
    "insufficient_quota": llm_errors.QuotaExceededError,
    "not_found_error": llm_errors.NotFoundError,
    "too_many_prompt_tokens": llm_errors.ContextLengthError,
    "request_too_large": llm_errors.ContextLengthError,
    "rate_limit_error": llm_errors.RateLimitError,
    "timeout_error": llm_errors.LLMTimeoutError,
    "api_error": llm_errors.ProviderUnavailableError,
    "server_error": llm_errors.ProviderUnavailableError,
    "overloaded_error": llm_errors.ProviderUnavailableError,
}
_SAYS_NOTHING = frozenset({"api_error", "server_error"})
"""Types that servers write beside any status, which then decides."""
_TOO_MUCH = "stream_limit"
"""The type of a line or an event that is longer than any that a service sends."""
_INVALID = frozenset({400, 422})
_BY_TEXT: tuple[tuple[type[LLMError], re.Pattern[str]], ...] = (
    (llm_errors.ContextLengthError, _TOO_LONG),
    (llm_errors.QuotaExceededError, _NO_CREDIT),
    (llm_errors.ContentFilterError, _FILTERED),
    (llm_errors.AuthenticationError, _BAD_KEY),
)
_ADVICE: tuple[tuple[type[LLMError], str], ...] = (
    (llm_errors.AccessDeniedError, "the key lacks access; check its permissions"),
    (llm_errors.AuthenticationError, "the key was refused; check `{key}`"),
    (llm_errors.QuotaExceededError, "the account has no credit left; check its billing"),
    (llm_errors.NotFoundError, "check the name of the model and `{address}`"),
    (llm_errors.ContextLengthError, "the conversation is too long for the model; shorten it"),
    (llm_errors.RateLimitError, "too many requests; retry later"),
    (llm_errors.ContentFilterError, "a content filter of the service objects; rephrase the prompt"),
    (llm_errors.InvalidRequestError, "check the model and the settings of {module}"),
    (llm_errors.LLMTimeoutError, "the server took too long; retry"),
    (llm_errors.StreamError, "no tool call of the answer was run; retry"),
    (llm_errors.ProviderUnavailableError, "the server is unavailable; retry later"),
)


def api_error(
    service: Service,
    details: Mapping[str, Any],
    *,
    model: str | None,
    request_id: str | None = None,
) -> LLMError:
    """Make the error for an answer of the server.

    Args:
        service: Who answered.
        details: `type`, `code`, `status`, `message`, `retryable`, `retry_after` (seconds) and
            `request_id`, as the stream decoder returns them; each may be missing. `reset_after`
            are the seconds after which a limit that was reached is whole again.
        model: The model that was asked.
        request_id: The server's id of the request, if `details` has none.
    """
    # Imported here, so that the provider can be mounted without the extension.
    from amplifier_stream.decoder import status_of_kind

    kind = str(details.get("type") or "")
    status: int | None = details.get("status")
    if status is None or status < 400:
        # An error in a stream came with status 200; this is what it would have come with before it.
        status = status_of_kind(kind)
    text = str(details.get("message") or "")
    error_class = _error_class(kind, str(details.get("code") or ""), status, text)
    seconds: float | None = details.get("retry_after")
    if seconds is None and error_class is llm_errors.RateLimitError:
        seconds = details.get("reset_after")
    arguments: dict[str, Any] = {
        "provider": service.name,
        "model": model,
        "status_code": status,
        "retry_after": seconds,
    }
    if error_class is not llm_errors.QuotaExceededError and details.get("retryable") is not None:
        arguments["retryable"] = bool(details["retryable"])
    named = " ".join(_one_line(str(part), _MAX_NAME_CHARS) for part in (status, kind) if part)
    request = _one_line(str(details.get("request_id") or request_id or ""), _MAX_NAME_CHARS)
    message = f"{service.title} API error ({named or 'without a status'}): {_one_line(text)}"
    message += f" (request id {request})" if request else ""
    hint = service.advise(error_class, text, model) or _usual_advice(service, error_class)
    if kind == _TOO_MUCH:
        hint = f"no tool call of the answer was run; check `{service.address_from}`"
    if hint and seconds:
        hint = _RETRY.sub(f"; retry in {math.ceil(seconds)} s", hint)
    return error_class(message, hint=hint, **arguments)


class ChallengeError(llm_errors.ProviderUnavailableError):
    """A page that wants to see a person answered in the place of the service."""

    retry_reason = "challenge of a proxy"


def challenge_error(
    service: Service, url: str, status: int, vendor: str, *, model: str | None
) -> LLMError:
    """Make the error for a page of a proxy that wants to see a person."""
    return ChallengeError(
        f"`{url}` answered with a challenge of {vendor} (status {status}) instead of"
        f" {service.title}",
        provider=service.name,
        model=model,
        status_code=status,
        hint=f"retry later, or check `{service.address_from}` and the network",
    )


def redirect_error(
    service: Service, url: str, status: int, location: str | None, *, model: str | None
) -> LLMError:
    """Make the error for a redirect, which is never followed: the key would be sent along."""
    return llm_errors.ConfigurationError(
        f"`{url}` answered with status {status}, a redirect to"
        f" `{_one_line(location or 'nowhere')}`, which is not followed, as the key would be sent"
        " along",
        provider=service.name,
        model=model,
        status_code=status,
        hint=f"set `{service.address_from}` to the final address",
    )


def unfitting_error(
    service: Service, url: str, found: str, expected: str, *, model: str | None
) -> LLMError:
    """Make the error for a successful answer of the wrong kind, such as a login page."""
    return llm_errors.ConfigurationError(
        f"`{url}` answered with {_one_line(found)} instead of {expected}",
        provider=service.name,
        model=model,
        status_code=200,
        hint=f"check `{service.address_from}`",
    )


def truncated_error(
    service: Service, model: str | None, cause: str = "", request_id: str | None = None
) -> LLMError:
    """Make the error for an answer that was cut off."""
    reason = f": {_one_line(cause)}" if cause else ""
    request = f" (request id {request_id})" if request_id else ""
    return llm_errors.StreamError(
        f"the answer of `{model}` was cut off{reason}; no tool call of it was run{request}",
        provider=service.name,
        model=model,
        hint="retry",
    )


def unreachable_error(
    service: Service,
    url: str,
    cause: str,
    *,
    model: str | None,
    was_reached: bool = False,
    proxy: str | None = None,
) -> LLMError:
    """Make the error for a server that cannot be reached, or that hangs up before its answer.

    Args:
        service: Who was called.
        url: Its address.
        cause: Why.
        model: The model that was asked.
        was_reached: Whether there was a connection.
        proxy: The host and port of the proxy that the way to it leads through.
    """
    if proxy is not None:
        return llm_errors.NetworkError(
            f"cannot connect to `{url}` through the proxy `{proxy}`: {_one_line(cause).rstrip('.')}",
            provider=service.name,
            model=model,
            # A proxy that wants a password, or forbids the address, will do so again.
            retryable=_REFUSED_BY_PROXY.match(cause) is None,
            hint=_PROXY_HINT,
        )
    what = "lost the connection to" if was_reached else "cannot connect to"
    better = None if was_reached else service.advise(llm_errors.NetworkError, cause, model)
    # Nobody starts a server of the user's own meanwhile.
    is_off = cause == os.strerror(errno.ECONNREFUSED) and is_here(service.name, url)
    return llm_errors.NetworkError(
        f"{what} `{url}`: {_one_line(cause).rstrip('.')}",
        provider=service.name,
        model=model,
        retryable=was_reached or not is_off,
        hint=better or f"check `{service.address_from}` and the network",
    )


def was_sent(error: LLMError) -> bool:
    """Whether the request of a call without an answer may have reached the service."""
    # Imported here, so that the provider can be mounted without the client.
    from httpx2 import ConnectError, ConnectTimeout

    is_lost = isinstance(error, llm_errors.NetworkError | llm_errors.LLMTimeoutError)
    return is_lost and not isinstance(error.__cause__, ConnectError | ConnectTimeout)


def environment_error(service: Service, cause: str) -> LLMError:
    """Make the error for proxy or certificate settings that cannot be used."""
    return llm_errors.ConfigurationError(
        f"cannot set up connections: {_one_line(cause)}",
        provider=service.name,
        hint="check `HTTPS_PROXY`, `ALL_PROXY`, `SSL_CERT_FILE` and `SSL_CERT_DIR`",
    )


def root_cause(error: BaseException) -> str:
    """Return the message of the operating system, or else of the error itself."""
    found: list[BaseException] = [error]
    known = {id(error)}
    for each in found:
        if isinstance(each, ConnectionError) and each.errno:
            return os.strerror(each.errno)  # asyncio names each address in its message
        if isinstance(each, OSError) and each.strerror:
            return each.strerror
        if isinstance(each, BaseExceptionGroup):
            found += cast("BaseExceptionGroup[BaseException]", each).exceptions
        deeper = each.__cause__ or each.__context__
        if deeper is not None and id(deeper) not in known:
            known.add(id(deeper))
            found.append(deeper)
    return str(error) or type(error).__name__


def timeout_error(
    service: Service,
    url: str,
    seconds: float,
    what: str,
    *,
    model: str | None,
    proxy: str | None = None,
) -> LLMError:
    """Make the error for a wait of more than `seconds` for `what`, through a proxy if there is one."""
    way = "" if proxy is None else f" through the proxy `{proxy}`"
    return llm_errors.LLMTimeoutError(
        f"no {what} from `{url}`{way} within {seconds:g} s",
        provider=service.name,
        model=model,
        hint="retry, or raise `timeout`" if proxy is None else _PROXY_HINT,
    )


def silent_error(service: Service, model: str | None, seconds: float) -> LLMError:
    """Make the error for an answer without content for too long."""
    return llm_errors.LLMTimeoutError(
        f"no content of the answer of `{model}` within {seconds:g} s, the `content_timeout` of"
        f" {service.module_name}",
        provider=service.name,
        model=model,
        hint="retry, or raise `content_timeout`",
    )


def oversized_error(service: Service, model: str | None, limit: int) -> LLMError:
    """Make the error for an answer that is longer than the settings allow."""
    return llm_errors.StreamError(
        f"the answer of `{model}` is longer than {limit:,} bytes, the `max_answer_bytes` of"
        f" {service.module_name}; no tool call of it was run",
        provider=service.name,
        model=model,
        retryable=False,
        hint="ask for less, or raise `max_answer_bytes`",
    )


def _usual_advice(service: Service, error_class: type[LLMError]) -> str | None:
    found = next((text for base, text in _ADVICE if issubclass(error_class, base)), None)
    return found and found.format(
        key=service.key_from, address=service.address_from, module=service.module_name
    )


def _error_class(kind: str, code: str, status: int | None, text: str) -> type[LLMError]:
    if code in _BY_CODE:
        return _BY_CODE[code]
    if kind in _BY_TYPE and (status is None or kind not in _SAYS_NOTHING):
        return _BY_TYPE[kind]
    if status in _INVALID:
        found = (error_class for error_class, words in _BY_TEXT if words.search(text))
        return next(found, llm_errors.InvalidRequestError)
    if status is None:
        return llm_errors.ProviderUnavailableError
    from amplifier_stream.decoder import status_kind

    return _BY_TYPE.get(status_kind(status) or "", llm_errors.InvalidRequestError)


def _one_line(text: str, max_chars: int = _MAX_MESSAGE_CHARS) -> str:
    """Return `text` on one line without tags and control characters, cut where it gets long."""
    if text.lstrip().startswith("<"):  # an error page of a proxy
        text = _TAG.sub(" ", _INVISIBLE.sub(" ", text))
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= max_chars else line[:max_chars] + "…"


def note_hint(error: LLMError) -> None:
    """Write the hint into the notes of an error: a traceback shows no fields."""
    hint = f"hint: {error.hint}"
    if error.hint and error.hint not in str(error) and hint not in getattr(error, "__notes__", ()):
        error.add_note(hint)
