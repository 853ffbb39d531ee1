"""Sends the requests of a provider, each until its answer begins."""

from __future__ import annotations

import anyio

from .answer import MAX_SILENT_SECONDS, Answer
from .body import WireRequest
from .client import ServiceClient
from .errors import silent_error
from .settings import HttpSettings
from .wire_format import WireFormat

_CONTENT_TYPES = {
    "anthropic": "text/event-stream",
    "responses": "text/event-stream",
    "chat": "text/event-stream",
    "ollama": "application/x-ndjson",
}
_JSON = "application/json"


class Sender:
    """Sends requests to one service."""

    def __init__(
        self, client: ServiceClient, settings: HttpSettings, wire_format: WireFormat
    ) -> None:
        """Keep what is needed; nothing is sent.

        Args:
            client: How the service is reached.
            settings: The limits of the answers.
            wire_format: Says where a request goes.
        """
        self.client = client
        self.settings = settings
        self.wire_format = wire_format

    async def open_answer(self, encoded: WireRequest, longest_wait: float | None = None) -> Answer:
        """Send a request; return its answer once the server has begun it.

        Args:
            encoded: The request.
            longest_wait: Seconds to wait for the next byte; the configured timeout if None.

        Raises:
            LLMError: The server cannot be reached, answers with an error or with anything but a
                stream.
        """
        client, settings, model = self.client, self.settings, encoded.model
        path = self.wire_format.request_path(encoded)
        seconds = longest_wait or settings.timeout
        fitting = _CONTENT_TYPES[client.service.dialect] if settings.use_streaming else _JSON
        silence = settings.content_timeout or MAX_SILENT_SECONDS
        content = encoded.to_bytes()
        deadline = anyio.current_time() + silence
        response = None
        with anyio.CancelScope(deadline=deadline):
            response = await client.send(
                "POST",
                path,
                seconds,
                model=model,
                headers={"content-type": _JSON, "accept": fitting, **encoded.headers},
                content=content,
                params=self.wire_format.params,
            )
        if response is None:
            raise silent_error(client.service, model, silence)
        content_type = response.headers.get("content-type", "")
        # Some servers and proxies send one JSON object although a stream was asked for.
        if fitting not in content_type and _JSON not in content_type:
            expected = "an event stream" if settings.use_streaming else "JSON"
            raise await client.content_type_error(response, path, expected, seconds, model)
        return Answer(
            client, response, settings, path=path, model=model, seconds=seconds, deadline=deadline
        )
