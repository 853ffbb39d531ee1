"""Answers made in the background: submitted, looked at until they are there, or cancelled."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import anyio
from typing_extensions import override

from amplifier_core import world
from amplifier_core.llm_errors import LLMError, LLMTimeoutError

from ..retries import Retries
from ..wire.answer import Answer
from ..wire.body import WireRequest
from ..wire.client import ServiceClient
from ..wire.events import Emit
from ..wire.fields import JsonDict
from ..wire.sender import Sender
from ..wire.settings import USUAL_ANSWER_BYTES
from ..wire.wire_format import WireFormat
from .settings import ResponsesSettings

BACKGROUND_STATUS = "provider:background_status"
_UNFINISHED = frozenset({"queued", "in_progress"})
_CANCEL_SECONDS = 10.0


class Background(Sender):
    """Sends requests, those with slow answers in the background: a connection lasts not as long."""

    def __init__(
        self,
        client: ServiceClient,
        settings: ResponsesSettings,
        wire_format: WireFormat,
        emit: Emit,
        *,
        retries: Retries,
        clock: Callable[[], float] = world.monotonic,
        sleep: Callable[[float], Awaitable[object]] = world.sleep,
    ) -> None:
        """Keep what is needed; nothing is sent.

        Args:
            client: Whom to ask.
            settings: How often and how long.
            wire_format: Says where a request goes.
            emit: Emits each change of the status.
            retries: What asks again where a look at the status fails.
            clock: Returns the current time in seconds.
            sleep: Waits for a number of seconds.
        """
        super().__init__(client, settings, wire_format)
        self._settings = settings
        self._emit = emit
        self._retries = retries
        self._clock = clock
        self._sleep = sleep

    @override
    async def open_answer(self, encoded: WireRequest, longest_wait: float | None = None) -> Answer:
        """Send a request; return its answer once the server has begun it, or made all of it.

        Args:
            encoded: The request.
            longest_wait: Seconds to wait for each of the service's answers.

        Raises:
            LLMError: The service cannot be reached or refuses, or the answer took too long; then it
                is cancelled there, as it is if the task is.
        """
        if not encoded.fields.get("background"):
            return await super().open_answer(encoded, longest_wait)
        path, seconds = self.wire_format.path, longest_wait or self._settings.timeout
        model = encoded.model
        content = encoded.to_bytes()
        started = self._clock()
        found = await self._ask("POST", path, seconds, model, content)
        response_id = str(found.get("id") or "")
        place = f"{path}/{response_id}"
        is_over = False
        try:
            found = await self._await_end(place, found, encoded, seconds, started)
            is_over = True
        finally:
            if not is_over:
                await self._cancel(place, model)
        whole: Any = _Whole(json.dumps(found).encode())
        return Answer(self.client, whole, self._settings, path=path, model=model, seconds=seconds)

    async def _await_end(
        self,
        place: str,
        found: JsonDict,
        encoded: WireRequest,
        seconds: float,
        started: float,
    ) -> JsonDict:
        last_status = None
        while True:
            status, elapsed = str(found.get("status") or ""), self._clock() - started
            if status != last_status:
                last_status = status
                await self._emit(
                    BACKGROUND_STATUS, _status_payload(encoded, found, status, elapsed)
                )
            if status not in _UNFINISHED:
                return found
            if elapsed >= self._settings.background_timeout:
                raise self._too_late(encoded)
            await self._sleep(self._settings.poll_interval)
            try:
                found = await self._retries.call(
                    lambda: self._ask("GET", place, seconds, encoded.model),
                    encoded.model,
                    is_part=True,
                )
            except LLMError as error:
                error.retryable = False  # else the whole answer would be made again
                raise

    async def _cancel(self, place: str, model: str) -> None:
        """Cancel an answer that nobody waits for any more, as far as that is possible."""
        # What ended the wait is what the caller must see.
        with anyio.move_on_after(_CANCEL_SECONDS, shield=True), suppress(LLMError):
            await self._ask("POST", f"{place}/cancel", _CANCEL_SECONDS, model)

    async def _ask(
        self, method: str, path: str, seconds: float, model: str, content: bytes | None = None
    ) -> JsonDict:
        return await self.client.ask(
            method,
            path,
            seconds,
            "a response",
            model=model,
            content=content,
            params=self.wire_format.params,
            max_bytes=self._settings.max_answer_bytes or USUAL_ANSWER_BYTES,
        )

    def _too_late(self, encoded: WireRequest) -> LLMError:
        limit = self._settings.background_timeout
        return LLMTimeoutError(
            f"no answer of `{encoded.model}` in the background within {limit:g} s, the"
            " `background_timeout`; it was cancelled",
            provider=encoded.provider,
            model=encoded.model,
            retryable=False,
            hint="raise `background_timeout`",
        )


class _Whole:
    """An answer that is already there, as a response of HTTP."""

    status_code = 200
    http_version = "HTTP/2"  # in which a body cannot end early without an error
    headers: Mapping[str, str] = {"content-type": "application/json"}
    is_stream_consumed = True

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        yield self._body

    async def aclose(self) -> None:
        pass


def _status_payload(encoded: WireRequest, found: JsonDict, status: str, elapsed: float) -> JsonDict:
    return {
        "provider": encoded.provider,
        "model": encoded.model,
        "response_id": found.get("id"),
        "status": status,
        "elapsed": round(elapsed, 3),
    }
