"""How OpenAI says what is wrong with a request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..serving.fields import Fields, Path, Problem, find_problem, is_kind, kind_of
from ..serving.reading import Json, read_mapping
from ..serving.refusal import Refusal, RefusedError, ServiceErrors

INVALID = "invalid_request_error"
_KINDS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a decimal number",
    "boolean": "a boolean",
    "array": "an array",
    "object": "an object",
    "null": "null",
}
_OF_STATUS = {
    401: (INVALID, "Incorrect API key provided.", "invalid_api_key"),
    403: (INVALID, "You do not have access to this resource.", "unsupported_country_region"),
    404: (INVALID, "Not found", None),
    408: ("timeout", "Request timeout", None),
    413: (INVALID, "Request body is too large", None),
    422: (INVALID, "Unprocessable request", None),
    429: ("requests", "Rate limit reached for requests", "rate_limit_exceeded"),
    500: ("server_error", "The server had an error while processing your request.", None),
    502: ("server_error", "Bad gateway.", None),
    503: ("service_unavailable_error", "The model is overloaded. Please try again later.", None),
    504: ("server_error", "Gateway timeout", None),
    529: ("service_unavailable_error", "Overloaded", None),
}


def write_place(path: Path) -> str:
    """Write a place as OpenAI does: `input[0].content[1].text`."""
    written = ""
    for part in path:
        if isinstance(part, int):
            written += f"[{part}]"
        else:
            written += f".{part}" if written else part
    return written


def make_invalid(
    message: str, path: Path | str | None = None, code: str | None = None
) -> RefusedError:
    """Return a refusal with status 400."""
    param = write_place(path) if isinstance(path, tuple) else path
    return RefusedError(Refusal(400, INVALID, message, param, code))


def of_status(status: int) -> Refusal:
    """Return what OpenAI says with an HTTP status."""
    usual = "server_error" if status >= 500 else INVALID
    kind, message, code = _OF_STATUS.get(status, (usual, "Error", None))
    return Refusal(status, kind, message, None, code)


def too_long(tokens: int, most: int, param: str) -> Refusal:
    """Return the error of a request that is longer than the context window."""
    message = (
        f"This model's maximum context length is {most} tokens. However, your messages resulted in"
        f" {tokens} tokens. Please reduce the length of the messages."
    )
    return Refusal(400, INVALID, message, param, "context_length_exceeded")


def errors_of(param: str) -> ServiceErrors:
    """Return the usual errors of an API whose conversation is in the parameter `param`."""

    def invalid_json(problem: str) -> Refusal:
        message = f"We could not parse the JSON body of your request: {problem}"
        return Refusal(400, INVALID, message)

    return ServiceErrors(
        of_status, lambda tokens, most: too_long(tokens, most, param), invalid_json
    )


def error_body(refusal: Refusal) -> Json:
    """Return the body of a refusal; without a type it is one of Azure's own."""
    if not refusal.kind:
        return {"error": {"code": refusal.code, "message": refusal.message}}
    return {
        "error": {
            "message": refusal.message,
            "type": refusal.kind,
            "param": refusal.param,
            "code": refusal.code,
        }
    }


def check_fields(value: Mapping[str, Any], fields: Fields, path: Path = ()) -> None:
    """Refuse an object with a field that is missing, unknown or of another type."""
    problem = find_problem(value, fields, path)
    if problem is not None:
        raise _make_refusal(problem)


def check_value(value: object, allowed: Iterable[str], path: Path) -> None:
    """Refuse a value that is none of those allowed."""
    known = sorted(allowed)
    if not isinstance(value, str) or value not in known:
        shown = value if isinstance(value, str | int | float | None) else kind_of(value)
        raise make_invalid(
            f"Invalid value: '{shown}'. Supported values are: {list_values(known)}.",
            path,
            "invalid_value",
        )


def check_length(value: str, most: int, path: Path) -> None:
    """Refuse a string that is too long."""
    if len(value) > most:
        raise make_invalid(
            f"Invalid '{write_place(path)}': string too long. Expected a string with maximum length"
            f" {most}, but got a string with length {len(value)} instead.",
            path,
            "string_above_max_length",
        )


def check_range(value: float | None, least: float, most: float | None, path: Path) -> None:
    """Refuse a number out of its range."""
    if value is None:
        return
    kind = "integer" if isinstance(value, int) and isinstance(least, int) else "decimal"
    if value < least:
        raise make_invalid(
            f"Invalid '{write_place(path)}': {kind} below minimum value. Expected a value >= {least}, but"
            f" got {value} instead.",
            path,
            f"{kind}_below_min_value",
        )
    if most is not None and value > most:
        raise make_invalid(
            f"Invalid '{write_place(path)}': {kind} above maximum value. Expected a value <= {most}, but"
            f" got {value} instead.",
            path,
            f"{kind}_above_max_value",
        )


def as_object(value: object, path: Path) -> Json:
    """Return `value`, or refuse it if it is not an object."""
    if not is_kind(value, "object"):
        raise _make_refusal(Problem("type", path, "object", kind_of(value)))
    return read_mapping(value)


def list_values(values: Iterable[str]) -> str:
    """List values as OpenAI does."""
    *first, last = [f"'{value}'" for value in values]
    match first:
        case []:
            return last
        case [one]:
            return f"{one} and {last}"
        case _:
            return f"{', '.join(first)}, and {last}"


def _make_refusal(problem: Problem) -> RefusedError:
    where = write_place(problem.path)
    match problem.what:
        case "missing":
            message, code = f"Missing required parameter: '{where}'.", "missing_required_parameter"
        case "unknown":
            message, code = f"Unknown parameter: '{where}'.", "unknown_parameter"
        case "type":
            expected = [_KINDS[kind] for kind in problem.expected.split("|") if kind != "null"]
            message = (
                f"Invalid type for '{where}': expected {_name_either(expected)}, but got"
                f" {_KINDS[problem.found]} instead."
            )
            code = "invalid_type"
    return make_invalid(message, problem.path, code)


def _name_either(kinds: list[str]) -> str:
    return kinds[0] if len(kinds) == 1 else f"one of {', '.join(kinds[:-1])} or {kinds[-1]}"
