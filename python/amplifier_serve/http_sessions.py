"""The sessions of a server, over HTTP: what `Sessions` does, for those who have no store."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Self, cast
from urllib.parse import quote

import httpx2

from amplifier_core import world
from amplifier_modules.stores import StoreError, UnknownSessionError
from amplifier_modules.stores.json_text import read_json, write_json

from .errors import ServeError
from .views import AskedQuestion, SessionEvent, SessionSummary, Submission

if TYPE_CHECKING:
    from amplifier_agent.approvals import Answer

PATIENCE_SECONDS = 60.0
"""How long a follower tries to reach a server that is gone."""
_SECONDS = 30.0
"""How long an answer may take, and a stream may be silent: the server speaks every 15 s."""
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 5.0


class HttpSessions:
    """The sessions of the owner of a token; use it with `async with`.

    Args:
        address: The address of the server.
        token: The bearer token.
    """

    def __init__(self, address: str, token: str) -> None:
        self._address = address.rstrip("/")
        self._http = httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {token}"},
            timeout=_SECONDS,
            verify=self._address.startswith("https:"),  # certificates take long to load
            follow_redirects=False,
        )

    async def __aenter__(self) -> Self:
        """Open nothing: connections are made when they are needed."""
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def submit(
        self,
        prompt: str,
        *,
        session_id: str | None = None,
        agent: str | None = None,
        folder: str | None = None,
    ) -> Submission:
        """Store a prompt."""
        given = {"prompt": prompt, "agent": agent, "folder": folder}
        body = {name: value for name, value in given.items() if value is not None}
        path = "" if session_id is None else f"{_write_path(session_id)}/prompts"
        return Submission(**await self._ask("POST", path, session_id, body))

    async def follow(self, session_id: str, since: int = 0) -> AsyncGenerator[SessionEvent]:
        """Yield the events behind a number, and those that follow."""
        pause, ends = _FIRST_PAUSE_SECONDS, world.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                async with aclosing(self._stream(session_id, since)) as events:
                    async for event in events:
                        # One that was seen comes again where a proxy has kept the stream.
                        if event.number == since + 1:
                            yield event
                            since = event.number
                        elif event.number > since:
                            break
                        pause, ends = _FIRST_PAUSE_SECONDS, world.monotonic() + PATIENCE_SECONDS
            except (httpx2.TransportError, StoreError, ServeError) as error:
                if isinstance(error, UnknownSessionError):
                    raise
                if isinstance(error, ServeError) and error.status not in (429, 502, 503, 504):
                    raise
                if world.monotonic() >= ends:
                    raise ServeError(f"`{self._address}` cannot be reached: {error}") from error
            await world.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)

    async def read(self, session_id: str, since: int = 0) -> list[SessionEvent]:
        """Return the events behind a number."""
        path = f"{_write_path(session_id)}/events?since={since}"
        found = await self._ask("GET", path, session_id)
        return [SessionEvent(**each) for each in found["events"]]

    async def steer(self, session_id: str, text: str) -> None:
        """Say something to the turn that runs."""
        await self._ask("POST", f"{_write_path(session_id)}/steering", session_id, {"text": text})

    async def cancel(self, session_id: str, *, now: bool = True) -> None:
        """Cancel the turn that has begun."""
        await self._ask("POST", f"{_write_path(session_id)}/cancel", session_id, {"now": now})

    async def questions(self, session_id: str) -> list[AskedQuestion]:
        """Return what a session asks people."""
        found = await self._ask("GET", f"{_write_path(session_id)}/questions", session_id)
        return [AskedQuestion(**each) for each in found["questions"]]

    async def answer(self, session_id: str, question_id: str, answer: Answer) -> None:
        """Answer a question."""
        from amplifier_agent.approvals import check_answer

        check_answer(answer, "the answer is")
        if not isinstance(answer, bool | str):
            raise TypeError("a server takes `True`, `False` or a text that says why not")
        body = {"question_id": question_id, "answer": answer}
        await self._ask("POST", f"{_write_path(session_id)}/answers", session_id, body)

    async def list(self) -> list[SessionSummary]:
        """Return the sessions."""
        found = await self._ask("GET", "")
        return [SessionSummary(**each) for each in found["sessions"]]

    async def _ask(
        self, method: str, path: str, session_id: str | None = None, body: Any = None
    ) -> dict[str, Any]:
        try:
            response = await self._http.request(
                method,
                f"{self._address}/v1/sessions{path}",
                content=None if body is None else write_json(body),
                headers={} if body is None else {"Content-Type": "application/json"},
            )
        except httpx2.TransportError as error:
            raise ServeError(
                f"`{self._address}` cannot be reached: {str(error) or type(error).__name__}"
            ) from error
        _check(response.status_code, response.text, session_id)
        return read_json(response.text)

    async def _stream(self, session_id: str, since: int) -> AsyncGenerator[SessionEvent]:
        address = f"{self._address}/v1/sessions{_write_path(session_id)}/events?since={since}"
        headers = {"Accept": "text/event-stream"}
        async with self._http.stream("GET", address, headers=headers) as response:
            if response.status_code != 200:
                await response.aread()
                _check(response.status_code, response.text, session_id)
            fields: dict[str, str] = {}
            rest = b""
            async for part in response.aiter_bytes():
                # Not `aiter_lines`: it ends lines at characters that texts may have.
                *lines, rest = (rest + part).split(b"\n")
                for line in lines:
                    name, _, value = line.decode().partition(":")
                    if line:
                        fields[name] = value.removeprefix(" ")
                        continue
                    if "data" in fields:
                        data = read_json(fields["data"])
                        yield SessionEvent(int(fields["id"]), fields["event"], data)
                    fields = {}


def _write_path(session_id: str) -> str:
    return f"/{quote(session_id, safe='')}"


def _check(status: int, text: str, session_id: str | None) -> None:
    """Raise what a store would raise.

    Raises:
        UnknownSessionError, LookupError, ValueError, StoreError: As the server says.
        ServeError: The server has refused the request.
    """
    if status < 300:
        return
    try:
        error = cast("dict[str, Any]", read_json(text))["error"]
        kind, message = str(error["type"]), str(error["message"])
    except (ValueError, KeyError, TypeError):
        kind, message = "", f"the server answered with status {status}"
    match kind:
        case "unknown_session" if session_id is not None:
            raise UnknownSessionError(session_id)
        case "nothing_found":
            raise LookupError(message)
        case "bad_value":
            raise ValueError(message)
        case "store":
            raise StoreError(message)
        case _:
            raise ServeError(message, status)
