"""Why a server refuses a request, and the usual errors of a service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus


@dataclass(frozen=True)
class Refusal:
    """Why a request is refused, as the vendor writes it."""

    status: int
    """The HTTP status."""
    kind: str
    """The `type` of the error."""
    message: str
    """The `message` of the error."""
    param: str | None = None
    """The `param` of the error, where the dialect has one."""
    code: str | None = None
    """The `code` of the error, where the dialect has one."""


class RefusedError(Exception):
    """Raised by a rule that a request breaks."""

    def __init__(self, refusal: Refusal) -> None:
        """Carry `refusal`."""
        super().__init__(refusal.message)
        self.refusal = refusal


def _of_status(status: int) -> Refusal:
    known = {each.value: each.phrase for each in HTTPStatus}
    phrase = known.get(status, "Error")
    return Refusal(status, phrase.lower().replace(" ", "_"), phrase)


def _too_long(tokens: int, most: int) -> Refusal:
    return Refusal(400, "too_long", f"the request has {tokens} tokens (the most are {most})")


def _invalid_json(problem: str) -> Refusal:
    return Refusal(400, "invalid_json", f"the body is not a JSON object: {problem}")


@dataclass(frozen=True)
class ServiceErrors:
    """The usual errors of a service; each has a plain default."""

    of_status: Callable[[int], Refusal] = _of_status
    """The error of an HTTP status, for faults."""
    too_long: Callable[[int, int], Refusal] = _too_long
    """The error of a request of so many tokens, where the context window has so many."""
    invalid_json: Callable[[str], Refusal] = _invalid_json
    """The error of a body that is not a JSON object, and why it is not."""
