"""How Anthropic says what is wrong with a request."""

from __future__ import annotations

from ..serving.fields import Path
from ..serving.refusal import Refusal, RefusedError

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    500: "api_error",
    502: "api_error",
    503: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_MESSAGES = {
    401: "invalid x-api-key",
    402: "Your credit balance is too low to access the Anthropic API.",
    403: "Your API key does not have permission to use the specified resource.",
    404: "Not found",
    408: "Request timeout",
    413: "Request exceeds the maximum size",
    429: "This request would exceed your organization's rate limit",
    500: "Internal server error",
    504: "Request timed out",
    529: "Overloaded",
}


def make_invalid(message: str, path: Path = ()) -> RefusedError:
    """Return a refusal with status 400 that names the place of the problem."""
    place = ".".join(map(str, path))
    text = f"{place}: {message}" if place else message
    return RefusedError(Refusal(400, _KINDS[400], text))


def of_status(status: int, message: str | None = None) -> Refusal:
    """Return what the API says with an HTTP status."""
    kind = _KINDS.get(status, "api_error" if status >= 500 else "invalid_request_error")
    return Refusal(status, kind, message or _MESSAGES.get(status, "Error"))


def too_long(tokens: int, most: int) -> Refusal:
    """Return the error of a request that is longer than the context window."""
    return of_status(400, f"prompt is too long: {tokens} tokens > {most} maximum")


def invalid_json(problem: str) -> Refusal:
    """Return the error of a body that is not a JSON object."""
    return of_status(400, f"The request body is not valid JSON: {problem}")
