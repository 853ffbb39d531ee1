"""How Ollama says what is wrong with a request: a status and one text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..serving.fields import Fields, Path, find_problem, is_kind, kind_of
from ..serving.reading import Json, read_mapping
from ..serving.refusal import Refusal, RefusedError

_OF_STATUS = {
    401: "unauthorized",
    403: "forbidden",
    404: "404 page not found",
    405: "405 method not allowed",
    429: "too many concurrent requests",
    500: "an error was encountered while running the model",
    502: "bad gateway",
    503: "server busy, please try again. maximum pending requests exceeded",
}


def make_refusal(message: str, status: int = 400) -> RefusedError:
    """Return a refusal."""
    return RefusedError(Refusal(status, "", message))


def of_status(status: int) -> Refusal:
    """Return what Ollama, or what is in front of it, says with an HTTP status."""
    return Refusal(status, "", _OF_STATUS.get(status, "something went wrong"))


def too_long(tokens: int, most: int) -> Refusal:
    """Return the error of a request that is longer than the context window."""
    return Refusal(400, "", f"input length ({tokens} tokens) exceeds the context length ({most})")


def invalid_json(problem: str) -> Refusal:
    """Return the error of a body that is not a JSON object."""
    return Refusal(400, "", f"invalid character in the body: {problem}")


def error_body(refusal: Refusal) -> Json:
    """Return the body of a refusal; one with a type has the form of OpenAI, as in Ollama Cloud."""
    if not refusal.kind:
        return {"error": refusal.message}
    return {
        "error": {
            "message": refusal.message,
            "type": refusal.kind,
            "param": refusal.param,
            "code": refusal.code,
        }
    }


def check_fields(
    value: Mapping[str, Any], fields: Fields, path: Path = (), request: str = "ChatRequest"
) -> None:
    """Refuse an object with a field that is missing or of another type; others are ignored."""
    known = {**fields.required, **fields.optional}
    problem = find_problem({name: value[name] for name in value if name in known}, fields, path)
    if problem is None:
        return
    where = ".".join(str(part) for part in problem.path if isinstance(part, str))
    if problem.what == "missing":
        raise make_refusal(f"{where} is required")
    raise _not_read(problem.found, problem.expected, where, request)


def as_object(value: object, path: Path) -> Json:
    """Return `value`, or refuse it if it is not an object."""
    if not is_kind(value, "object"):
        raise _not_read(kind_of(value), "object", ".".join(map(str, path)))
    return read_mapping(value)


def _not_read(found: str, expected: str, where: str, request: str = "ChatRequest") -> RefusedError:
    return make_refusal(
        f"json: cannot unmarshal {found} into Go struct field {request}.{where} of type"
        f" {expected.removesuffix('|null')}"
    )
