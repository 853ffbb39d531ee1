"""What the server answers: JSON in one line, errors with a type and a message."""

from __future__ import annotations

import math
from typing import Any

from starlette.responses import Response

from amplifier_modules.stores import StoreError, UnknownSessionError
from amplifier_modules.stores.json_text import write_json


class Refusal(Exception):
    """A request that is not answered as it wishes."""

    def __init__(
        self, status: int, kind: str, message: str, retry_after: float | None = None
    ) -> None:
        """Say why.

        Args:
            status: The HTTP status.
            kind: The `type` of the error, for programs.
            message: What is wrong, for people.
            retry_after: Seconds after which it may be tried again; None for not said.
        """
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.retry_after = retry_after


def answer(data: Any, status: int = 200) -> Response:
    """Return an answer."""
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    return Response(f"{write_json(data)}\n", status, headers, "application/json")


def answer_refusal(refusal: Refusal) -> Response:
    """Return the answer that says why a request is refused."""
    error = {"type": refusal.kind, "message": " ".join(str(refusal).split())}
    response = answer({"error": error}, refusal.status)
    if refusal.status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    if refusal.retry_after is not None:
        response.headers["Retry-After"] = str(math.ceil(refusal.retry_after))
    return response


def read_error(error: Exception) -> Refusal:
    """Return the refusal that an error of a store comes to; one that is not known is raised again."""
    match error:
        case Refusal():
            return error
        case UnknownSessionError():
            return Refusal(404, "unknown_session", str(error))
        case StoreError():
            # What it says may name files of the server.
            return Refusal(503, "store", "the store of the server cannot be used")
        case LookupError():
            return Refusal(409, "nothing_found", str(error.args[0]))
        case ValueError() | TypeError():
            return Refusal(400, "bad_value", str(error))
        case _:
            raise error
