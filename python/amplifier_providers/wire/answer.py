"""One answer while it is received: the events of each piece, and the result at the end."""

from __future__ import annotations

import contextlib
import math
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from amplifier_core import world

from .body_reading import has_framed_body, plain_headers
from .byte_wait import limit_waits
from .client import ServiceClient
from .errors import oversized_error, root_cause, silent_error, timeout_error, truncated_error
from .settings import USUAL_ANSWER_BYTES, HttpSettings

if TYPE_CHECKING:
    import httpx2

    from amplifier_stream import StreamEvent, StreamResult, ThinkingFilter

TakenT = TypeVar("TakenT")

MAX_SILENT_SECONDS = 1_800.0
"""Seconds without content after which an answer is ended where no setting says otherwise."""


class Answer:
    """The stream of one answer; iterate over it, then take the `result`.

    Each item is the list of events that one piece of the body completed. Close it in any case.
    """

    def __init__(
        self,
        client: ServiceClient,
        response: httpx2.Response,
        settings: HttpSettings,
        *,
        path: str,
        model: str,
        seconds: float,
        deadline: float = math.inf,
    ) -> None:
        """Read `response`, a success.

        Args:
            client: Whose answer it is.
            response: What the server sends, its body unread.
            settings: The limits of the answer, and the tags in its text.
            path: Where the request went.
            model: The model that was asked.
            seconds: Seconds to wait for the next byte.
            deadline: When the first content must be there, in the time of the event loop.
        """
        # Of their files: to look for a name of a package takes longer than to make the decoder.
        from amplifier_stream.decoder import StreamDecoder

        self._client = client
        self._response = response
        headers = plain_headers(response)
        self._is_packed = "content-encoding" in headers
        self._path = path
        self._model = model
        self._seconds = seconds
        self._waits = limit_waits(response, seconds)
        self._silence = settings.content_timeout
        self._longest = settings.max_answer_bytes or USUAL_ANSWER_BYTES
        self._decoder = StreamDecoder(
            client.service.dialect,
            response.status_code,
            headers,
            max_total_bytes=self._longest,
            max_calls=settings.max_calls_per_answer,
        )
        tags = settings.thinking_tags
        self._thinking = _make_filter(tags) if tags else None
        self._failure: Exception | None = None
        self._finished: StreamResult | None = None
        self._received = 0
        self._has_ended = False
        # Nothing is left to decode where the body is what it seems: that spares two steps for each piece.
        is_decoded = self._is_packed or response.is_stream_consumed
        body: Any = response.aiter_bytes() if is_decoded else response.stream
        self._pieces: AsyncIterator[bytes] = aiter(body)
        self._events = self._take_pieces(self._decode)
        self._deadline = deadline
        self._silent_since: float | None = world.monotonic()
        """When it became silent; None since a piece had content."""

    def __aiter__(self) -> AsyncIterator[list[StreamEvent]]:
        """Iterate over the lists of events."""
        return self._events

    def __anext__(self) -> Awaitable[list[StreamEvent]]:
        """Return the events of the next piece, at the end of the body `StopAsyncIteration`."""
        return self._events.__anext__()

    async def read(self) -> None:
        """Read all that is left, without its events."""
        if self._thinking is not None:  # it takes its text from the events
            async for _ in self:
                pass
            return
        async with contextlib.aclosing(self._take_pieces(self._note_piece)) as pieces:
            async for _ in pieces:
                pass

    async def aclose(self) -> None:
        """Close the connection, unless the answer was read to its end."""
        import httpx2

        if self._waits is not None:
            self._waits.stop()
        await self._events.aclose()
        await self._response.aclose()
        if self._is_packed:
            return  # what was received and not read could be a lot once it is unpacked
        # The generators that read the body end where they see that the connection is closed: trio
        # warns of those that are left in the middle.
        with contextlib.suppress(httpx2.HTTPError, httpx2.StreamError):
            async for _ in self._pieces:
                pass

    def receive(self) -> StreamResult:
        """Return what came of the answer, whole or not; nothing more is read."""
        if self._finished is None:
            headers = plain_headers(self._response)
            is_whole = self._has_ended and has_framed_body(self._response.http_version, headers)
            self._finished = self._decoder.finish(body_is_whole=is_whole)
        return self._finished

    def result(self) -> StreamResult:
        """Return the whole answer.

        Raises:
            LLMError: The stream was cut off, is too long, or says that it failed.
        """
        import httpx2

        client, failure, service = self._client, self._failure, self._client.service
        if self._received > self._longest:
            raise oversized_error(service, self._model, self._longest) from failure
        result = self.receive()
        if self._thinking is not None:
            result = self._thinking.finish(result)
        # A document that the connection did not bring to its end is no JSON: the end is the reason.
        is_broken = failure is not None and (result.error or {}).get("type") == "invalid_stream"
        if result.error is not None and not is_broken:
            raise client.api_error(
                result.error, result.request_id, self._model, plain_headers(self._response)
            ) from failure
        # A connection that breaks after the end of the answer loses nothing.
        if not result.truncated:
            return result
        is_late = self._waits is not None and self._waits.is_over
        if is_late or isinstance(failure, httpx2.TimeoutException):
            url = client.shown_url + self._path
            raise timeout_error(
                service, url, self._seconds, "further data", model=self._model
            ) from failure
        cause = _unfinished_status(result) if failure is None else client.clean(root_cause(failure))
        raise truncated_error(service, self._model, cause, result.request_id) from failure

    async def _take_pieces(self, take: Callable[[bytes], TakenT]) -> AsyncGenerator[TakenT]:
        """Yield what each piece of the body is taken as, up to its end."""
        next_piece = self._pieces.__anext__ if self._silence is None else self._within_deadline
        waits = self._waits
        try:
            while True:
                if waits is None:
                    piece = await next_piece()
                else:
                    waits.begin()
                    piece = await next_piece()
                    waits.end()
                self._received += len(piece)
                yield take(piece)
        except StopAsyncIteration:
            self._has_ended = True
        except Exception as error:
            if not _ends_answer(error):
                raise
            self._failure = error

    def _decode(self, piece: bytes) -> list[StreamEvent]:
        events = self._decoder.feed(piece)
        if self._thinking is not None:
            events = self._thinking.feed(events)
        for event in events:
            # An empty delta adds nothing to the answer; whatever has no delta does.
            if event.delta != "":
                self._note(has_content=True)
                break
        else:
            self._note(has_content=False)
        return events

    def _note_piece(self, piece: bytes) -> None:
        self._note(has_content=self._decoder.advance(piece))

    def _note(self, *, has_content: bool) -> None:
        """Note whether a piece had content, without which an answer ends some day."""
        if has_content:
            if self._silence is not None:
                self._deadline = anyio.current_time() + self._silence
            self._silent_since = None
        elif self._silence is None:
            # Looked at here alone: a scope around each wait costs more than all else of a piece. The
            # first piece without content is near enough to the last one that had some.
            now = world.monotonic()
            if self._silent_since is None:
                self._silent_since = now
            elif now - self._silent_since > MAX_SILENT_SECONDS:
                raise silent_error(self._client.service, self._model, MAX_SILENT_SECONDS)

    async def _within_deadline(self) -> bytes:
        with anyio.CancelScope(deadline=self._deadline):
            return await anext(self._pieces)
        raise silent_error(self._client.service, self._model, self._silence or 0)


def _make_filter(tags: tuple[str, ...]) -> ThinkingFilter:
    from amplifier_stream import ThinkingFilter

    return ThinkingFilter(tags)


def _ends_answer(error: Exception) -> bool:
    """Whether an error is of the connection, or of a limit of the answer."""
    import httpx2

    from amplifier_stream import StreamLimitError

    return isinstance(error, httpx2.HTTPError | StreamLimitError)


def _unfinished_status(result: StreamResult) -> str:
    """Say which status a response had that never became an answer."""
    status = result.metadata.get("status")
    return f"its status is `{status}`" if isinstance(status, str) else ""
