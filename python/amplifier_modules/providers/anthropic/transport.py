"""HTTP client of the Anthropic API: decoded events in, `llm_errors` on failure."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import anyio

from amplifier_core.llm_errors import LLMError

from .config import MAX_ANSWER_BYTES, AnthropicConfig
from .errors import (
    api_error,
    environment_error,
    oversized_error,
    redirect_error,
    root_cause,
    silent_error,
    timeout_error,
    truncated_error,
    unfitting_error,
    unreachable_error,
)
from .request import EncodedRequest

if TYPE_CHECKING:
    import ssl

    import httpx2

    from amplifier_stream import StreamEvent, StreamResult

VERSION = "2023-06-01"
_DIALECT = "anthropic"
_MESSAGES = "/v1/messages"
_MODELS = "/v1/models"
_MAX_CONNECT_SECONDS = 30.0
_MAX_BODY_BYTES = 4_000_000
_MIN_SECRET_CHARS = 4
_MODELS_PER_PAGE = 1_000
_MAX_PAGES = 100
# A proxy from the environment cannot reach a server on this machine.
_NEVER_PROXIED = ("all://localhost", "all://127.0.0.1", "all://[::1]")


class AnthropicTransport:
    """Requests to one base URL with one key."""

    def __init__(self, config: AnthropicConfig) -> None:
        """Keep the settings; the client is created with the first request."""
        self._config = config
        self._client: httpx2.AsyncClient | None = None

    @property
    def shown_url(self) -> str:
        """The base URL without a user name or password."""
        scheme, _, rest = self._config.base_url.partition("://")
        host, slash, path = rest.partition("/")
        return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"

    async def close(self) -> None:
        """Close the client if there is one; a later request creates a new one."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def stream(
        self,
        request: EncodedRequest,
        longest_wait: float | None,
        on_event: Callable[[StreamEvent], Awaitable[None]],
    ) -> StreamResult:
        """Send `request`, pass on each block event as it arrives, and return the whole answer.

        Args:
            request: What to send.
            longest_wait: Seconds to wait for the next byte; the configured timeout by default.
            on_event: Awaited for each event, in order.

        Raises:
            LLMError: The server cannot be reached, answers with an error or with anything but a
                stream, or the stream is cut off.
        """
        silence = self._config.content_timeout
        with anyio.move_on_after(silence) as scope:

            async def on_content(event: StreamEvent) -> None:
                await on_event(event)
                if silence is not None and _is_content(event):
                    scope.deadline = anyio.current_time() + silence

            return await self._stream(request, longest_wait, on_content)
        raise silent_error(request.model, silence or 0)

    async def _stream(
        self,
        request: EncodedRequest,
        longest_wait: float | None,
        on_event: Callable[[StreamEvent], Awaitable[None]],
    ) -> StreamResult:
        import httpx2

        from amplifier_stream import StreamDecoder, StreamLimitError, ThinkingFilter

        seconds = longest_wait or self._config.timeout
        longest = self._config.max_answer_bytes or MAX_ANSWER_BYTES
        headers = {"content-type": "application/json", "accept": "text/event-stream"}
        if request.betas:
            headers["anthropic-beta"] = ",".join(request.betas)
        response = await self._send(
            "POST", _MESSAGES, seconds, request.model, headers=headers, content=request.to_bytes()
        )
        failure: Exception | None = None
        received = 0
        try:
            content_type = response.headers.get("content-type", "")
            if "text/event-stream" not in content_type:
                url = self.shown_url + _MESSAGES
                found = f"`{self._clean(content_type)}`" if content_type else "no content type"
                raise unfitting_error(url, found, "an event stream", model=request.model)
            decoder = StreamDecoder(
                _DIALECT,
                response.status_code,
                dict(response.headers),
                max_total_bytes=longest,
            )
            tags = self._config.thinking_tags
            thinking = ThinkingFilter(tags) if tags else None
            try:
                async for chunk in response.aiter_bytes():
                    received += len(chunk)
                    events = decoder.feed(chunk)
                    for event in thinking.feed(events) if thinking else events:
                        await on_event(event)
            except (httpx2.HTTPError, StreamLimitError) as error:
                failure = error
        finally:
            await response.aclose()
        if received > longest:
            raise oversized_error(request.model, longest) from failure
        result = decoder.finish()
        if thinking is not None:
            result = thinking.finish(result)
        if result.error is not None:
            raise self._api_error(result.error, result.request_id, request.model) from failure
        # A connection that breaks after the end of the answer loses nothing.
        if not result.truncated:
            return result
        if isinstance(failure, httpx2.TimeoutException):
            url = self.shown_url + _MESSAGES
            raise timeout_error(url, seconds, "further data", model=request.model) from failure
        cause = "" if failure is None else self._clean(root_cause(failure))
        raise truncated_error(request.model, cause, result.request_id) from failure

    async def list_models(self) -> list[dict[str, Any]]:
        """Return the entries of all pages of `GET /v1/models`.

        Raises:
            LLMError: The server cannot be reached or answers with an error.
        """
        seconds = self._config.timeout
        entries: list[dict[str, Any]] = []
        parameters: dict[str, str] = {"limit": str(_MODELS_PER_PAGE)}
        for _ in range(_MAX_PAGES):
            response = await self._send("GET", _MODELS, seconds, None, params=parameters)
            try:
                page = json.loads(await _read_body(response))
                entries += [dict(entry) for entry in page["data"]]
                if not page.get("has_more") or not page.get("last_id"):
                    break
                parameters["after_id"] = str(page["last_id"])
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                url = self.shown_url + _MODELS
                raise unfitting_error(
                    url, "other content", "a list of models", model=None
                ) from error
            finally:
                await response.aclose()
        return entries

    async def _send(
        self,
        method: str,
        path: str,
        seconds: float,
        model: str | None,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        """Send one request; return its answer, body unread, if it succeeded."""
        import httpx2

        url = self.shown_url + path
        try:
            client = self._open_client()
            request = client.build_request(
                method,
                self._config.base_url + path,
                headers={
                    "x-api-key": self._config.api_key,
                    "anthropic-version": VERSION,
                    **(headers or {}),
                },
                content=content,
                params=params,
                timeout=httpx2.Timeout(seconds, connect=min(seconds, _MAX_CONNECT_SECONDS)),
            )
            response = await client.send(request, stream=True)
        except httpx2.ConnectTimeout as error:
            limit = min(seconds, _MAX_CONNECT_SECONDS)
            raise timeout_error(url, limit, "connection", model=model) from error
        except httpx2.TimeoutException as error:
            raise timeout_error(url, seconds, "answer", model=model) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise unreachable_error(url, self._clean(root_cause(error)), model=model) from error
        if response.is_success:
            return response
        try:
            raise await self._refusal(response, path, model)
        finally:
            await response.aclose()

    def _open_client(self) -> httpx2.AsyncClient:
        import httpx2

        if self._client is None:
            try:
                self._client = httpx2.AsyncClient(
                    verify=_verification(self._config.base_url),
                    follow_redirects=False,  # the key would be sent along
                    mounts=dict.fromkeys(_NEVER_PROXIED),
                )
            except (ImportError, ValueError, OSError) as error:
                # It reads proxies and certificates from the environment.
                raise environment_error(str(error)) from error
        return self._client

    async def _refusal(self, response: httpx2.Response, path: str, model: str | None) -> LLMError:
        """Make the error for an answer with an error status."""
        status = response.status_code
        if 300 <= status < 400:
            location = self._clean(response.headers.get("location", ""))
            return redirect_error(self.shown_url + path, status, location, model=model)
        from amplifier_stream import decode_error

        body = await _read_body(response)
        return self._api_error(
            decode_error(_DIALECT, status, dict(response.headers), body), None, model
        )

    def _api_error(
        self, details: dict[str, Any], request_id: str | None, model: str | None
    ) -> LLMError:
        shown = {**details, "message": self._clean(str(details.get("message") or ""))}
        return api_error(shown, model=model, request_id=request_id)

    def _clean(self, text: str) -> str:
        """Return `text` without the key, which a server may have echoed in any encoding."""
        from amplifier_guard import Redactor

        key = self._config.api_key
        return Redactor([key] if len(key) >= _MIN_SECRET_CHARS else []).redact(text)


def _is_content(event: StreamEvent) -> bool:
    """Whether an event adds to the answer; an empty delta does not."""
    return "delta" not in event.data or bool(event.data["delta"])


def _verification(base_url: str) -> ssl.SSLContext | Literal[True]:
    """Return how the certificate of a server is verified: with the usual authorities.

    To load them takes longer than all else in a client, and no certificate comes over plain HTTP.
    There no authority is trusted, so a TLS connection that came about all the same would fail.
    """
    if urlsplit(base_url).scheme != "http":
        return True
    import ssl

    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


async def _read_body(response: httpx2.Response) -> bytes:
    """Read the body of an error or a list, up to `_MAX_BODY_BYTES`."""
    import httpx2

    body = bytearray()
    try:
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) >= _MAX_BODY_BYTES:
                break
    except httpx2.HTTPError:
        pass  # the beginning is enough
    return bytes(body)
