"""The application: sessions of the owner of the token, by paths below `/v1`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import Any, TypeAlias, cast

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from amplifier_modules.stores import Store
from amplifier_modules.stores.json_text import read_json

from ..sessions import Sessions
from ..views import describe
from .answers import Refusal, answer, answer_refusal, read_error
from .event_stream import write_stream

_SINCE = "since"

Handle: TypeAlias = Callable[[Request, Sessions], Awaitable[Response]]


def make_app(
    store: Store, ended: anyio.Event, folders: Sequence[str], say: Callable[[str], object]
) -> Starlette:
    """Return the application, behind what checks the requests.

    Args:
        store: The store of the sessions.
        ended: Ends the streams when it is set.
        folders: New sessions may work in these and what is in them; in no other.
        say: Takes a line about each request that has failed through the server.
    """
    begin = partial(_begin_session, folders=folders)
    follow = partial(_show_events, ended=ended)
    one = "/v1/sessions/{id}"
    routes: list[tuple[str, str, Handle]] = [
        ("GET", "/v1/health", _show_health),
        ("GET", "/v1/sessions", _list_sessions),
        ("POST", "/v1/sessions", begin),
        ("GET", f"{one}/events", follow),
        ("POST", f"{one}/prompts", _add_prompt),
        ("POST", f"{one}/steering", _steer_turn),
        ("POST", f"{one}/cancel", _cancel_turn),
        ("GET", f"{one}/questions", _list_questions),
        ("POST", f"{one}/answers", _answer_question),
    ]

    def make_endpoint(handle: Handle) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            owner = request.scope.get("state", {}).get("owner")
            try:
                return await handle(request, Sessions(store, owner))
            except Exception as error:  # noqa: BLE001 -- what is not known is raised again
                refusal = read_error(error)
                if refusal.status >= 500:
                    say(f"{request.method} {request.url.path}: {' '.join(str(error).split())}")
                return answer_refusal(refusal)

        return respond

    def refuse(status: int, kind: str, message: str) -> Any:
        async def respond(request: Request, error: Exception) -> Response:
            return answer_refusal(Refusal(status, kind, message))

        return respond

    return Starlette(
        routes=[
            Route(path, make_endpoint(handle), methods=[method]) for method, path, handle in routes
        ],
        exception_handlers={
            404: refuse(404, "unknown_path", "there is nothing at this path"),
            405: refuse(405, "unknown_method", "this path has another method"),
            500: refuse(500, "server", "the server has failed; its log says why"),
        },
    )


async def _show_health(request: Request, sessions: Sessions) -> Response:
    return answer({"status": "ok"})


async def _list_sessions(request: Request, sessions: Sessions) -> Response:
    return answer({"sessions": [describe(each) for each in await sessions.list()]})


async def _begin_session(
    request: Request, sessions: Sessions, *, folders: Sequence[str]
) -> Response:
    body = await _read_body(request, {"prompt": str, "agent": str, "folder": str})
    folder = body.get("folder")
    if folder is not None:
        _check_folder(folder, folders)
    sent = await sessions.submit(
        _require(body, "prompt"), agent=_require(body, "agent"), folder=folder
    )
    return answer(describe(sent), 201)


async def _add_prompt(request: Request, sessions: Sessions) -> Response:
    body = await _read_body(request, {"prompt": str, "agent": str, "folder": str})
    sent = await sessions.submit(
        _require(body, "prompt"),
        session_id=_read_id(request),
        agent=body.get("agent"),
        folder=body.get("folder"),
    )
    return answer(describe(sent), 202)


async def _show_events(request: Request, sessions: Sessions, *, ended: anyio.Event) -> Response:
    since = _read_since(request)
    if "text/event-stream" not in request.headers.get("accept", ""):
        events = await sessions.read(_read_id(request), since)
        return answer(
            {"events": [{"number": e.number, "kind": e.kind, "data": e.data} for e in events]}
        )
    await sessions.check(_read_id(request))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    stream = write_stream(sessions, _read_id(request), since, ended)
    return StreamingResponse(stream, 200, headers, "text/event-stream")


async def _steer_turn(request: Request, sessions: Sessions) -> Response:
    body = await _read_body(request, {"text": str})
    await sessions.steer(_read_id(request), _require(body, "text"))
    return answer({}, 202)


async def _cancel_turn(request: Request, sessions: Sessions) -> Response:
    body = await _read_body(request, {"now": bool})
    await sessions.cancel(_read_id(request), now=body.get("now", True))
    return answer({}, 202)


async def _list_questions(request: Request, sessions: Sessions) -> Response:
    found = await sessions.questions(_read_id(request))
    return answer({"questions": [describe(each) for each in found]})


async def _answer_question(request: Request, sessions: Sessions) -> Response:
    body = await _read_body(request, {"question_id": str, "answer": (bool, str)})
    question_id, given = _require(body, "question_id"), _require(body, "answer")
    await sessions.answer(_read_id(request), question_id, given)
    return answer({}, 202)


def _read_id(request: Request) -> str:
    return cast("str", request.path_params["id"])


async def _read_body(request: Request, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the object that a request has, without fields that are null.

    Raises:
        Refusal: It is none, or a field is not known or of another type.
    """
    content = await request.body()
    try:
        body: Any = read_json(content.decode()) if content else {}
    except (ValueError, RecursionError):
        raise Refusal(400, "bad_json", "the body of the request is no JSON") from None
    if not isinstance(body, dict):
        raise Refusal(400, "bad_json", "the body of the request is no JSON object")
    given = cast("dict[str, Any]", body)
    for name, value in given.items():
        if name not in fields:
            known = ", ".join(f"`{each}`" for each in fields)
            raise Refusal(400, "bad_value", f"`{name[:80]}` is no field of this request ({known})")
        if value is not None and not isinstance(value, fields[name]):
            found = type(value).__name__
            raise Refusal(400, "bad_value", f"`{name}` is of type `{found}`, which cannot be used")
    return {name: value for name, value in given.items() if value is not None}


def _require(body: dict[str, Any], name: str) -> Any:
    if name not in body:
        raise Refusal(400, "bad_value", f"the request has no `{name}`")
    return body[name]


def _read_since(request: Request) -> int:
    text = request.headers.get("last-event-id") or request.query_params.get(_SINCE) or "0"
    if not (text.isascii() and text.isdecimal() and len(text) < 16):
        raise Refusal(400, "bad_value", f"`{_SINCE}` is `{text[:80]}` (must be 0 or more)")
    return int(text)


def _check_folder(folder: str, folders: Sequence[str]) -> None:
    """Refuse a folder that the server was not started for; it is on the machine of the workers."""
    path = PurePosixPath(folder)
    is_inside = any(path.is_relative_to(PurePosixPath(each)) for each in folders)
    if not path.is_absolute() or ".." in path.parts or not is_inside:
        raise Refusal(403, "folder", "this server begins no sessions in this folder")
