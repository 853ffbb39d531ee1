"""HTTP client of one service: requests out, answers that succeeded in, `llm_errors` on failure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, cast
from weakref import ref

import anyio
from pydantic_core import from_json

from amplifier_core import world
from amplifier_core.llm_errors import LLMError

from ..connections.http_client import RequestWatch, Route, parsed_url, read_route
from ..connections.own_client import check_usable
from ..connections.pools import loop_pools
from ..limits.endpoint import endpoint_of
from ..limits.rate_limits import reset_wait
from .body_reading import (
    MAX_PAGE_BYTES,
    find_challenger,
    is_page,
    plain_headers,
    read_beginning,
    read_into,
    refused_coding,
)
from .errors import (
    api_error,
    challenge_error,
    environment_error,
    redirect_error,
    root_cause,
    timeout_error,
    unfitting_error,
    unreachable_error,
)
from .service import Service

if TYPE_CHECKING:
    import httpx2

_MAX_CONNECT_SECONDS = 30.0
_MAX_BODY_BYTES = 4_000_000
_MAX_MESSAGE_CHARS = 4_000
"""How much of a message of a server is looked at."""
_MIN_SECRET_CHARS = 4
_FEW_ANSWERS = 4

Headers = Callable[[], Awaitable[Mapping[str, str]]]
"""Returns the headers that every request carries, the key among them; asked for each request."""


class ServiceClient:
    """Requests to one base URL."""

    def __init__(
        self, service: Service, base_url: str, headers: Headers, secrets: tuple[str, ...] = ()
    ) -> None:
        """Keep the settings; connections are made with the first request.

        Args:
            service: Who is called.
            base_url: Its address, without a slash at the end.
            headers: The headers of every request.
            secrets: What is cleaned from errors, as a server may echo it.
        """
        self.service = service
        self._base_url = base_url
        self._headers = headers
        self._secrets = [secret for secret in secrets if len(secret) >= _MIN_SECRET_CHARS]
        self._route: Route | None = None
        self._answers: list[ref[httpx2.Response]] = []
        """The answers that may still be read. A `WeakSet` would take a kilobyte of an open stream."""
        self._most_answers = _FEW_ANSWERS
        """With how many of them those that are closed are taken out."""
        self.http_client: httpx2.AsyncClient | None = None
        """The program's own client; None for the connections that all sessions share."""
        self.on_headers: Callable[[Mapping[str, str]], Awaitable[None]] | None = None
        """Awaited with the headers of each answer."""
        self.endpoint = endpoint_of(base_url, secrets)
        """What is called, which other mounts may share."""

    def hide(self, secret: str) -> None:
        """Clean this from errors too, as a server may echo it."""
        if len(secret) >= _MIN_SECRET_CHARS and secret not in self._secrets:
            self._secrets.append(secret)

    @property
    def shown_url(self) -> str:
        """The base URL without a user name or password."""
        scheme, _, rest = self._base_url.partition("://")
        host, slash, path = rest.partition("/")
        return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"

    async def release(self) -> None:
        """End the answers that are still read; the connections stay for further sessions."""
        for response in [each() for each in self._answers]:
            if response is not None:
                await response.aclose()
        if self._route is not None:
            loop_pools().release(self._route, self)

    async def close(self) -> None:
        """End the answers that are still read, and close the connections if nobody shares them."""
        await self.release()
        if self._route is not None:
            pools = loop_pools()
            if pools.release(self._route, self):
                await pools.close_unused(self._route)

    async def send(
        self,
        method: str,
        path: str,
        seconds: float,
        *,
        model: str | None = None,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        """Send one request; return its answer, body unread, if it succeeded.

        Args:
            method: The HTTP method.
            path: What follows the base URL.
            seconds: Seconds to wait for the next byte.
            model: The model of the request, for errors.
            headers: Further headers.
            content: The body.
            params: The query.

        Raises:
            LLMError: The server cannot be reached, or answers with an error.
        """
        import httpx2

        watch: RequestWatch | None = None
        try:
            address = parsed_url(self._base_url + path)
            client, watch = self._connect(address)
            request = client.build_request(
                method,
                address,
                headers={**await self._headers(), **(headers or {})},
                content=content,
                params=params,
                timeout=httpx2.Timeout(seconds, connect=min(seconds, _MAX_CONNECT_SECONDS)),
                extensions={"trace": watch},
            )
            response = await world.outside(
                "http", lambda: client.send(request, stream=True, follow_redirects=False)
            )
        except BaseException as error:
            if watch is not None:
                watch.leave()
            if (failure := self._make_failure(error, watch, path, seconds, model)) is None:
                raise
            raise failure from error
        self._note_answer(response)
        try:
            received = plain_headers(response)
            if self.on_headers is not None:
                await self.on_headers(received)
            coding = refused_coding(request.headers, received)
            if not response.is_success or find_challenger(received) is not None:
                raise await self._make_refusal(
                    response, path, seconds, model, can_read=coding is None
                )
            if coding is not None:
                asked = f"`{request.headers['accept-encoding']}`"
                raise self.make_unfitting(path, f"content encoded as `{coding}`", asked, model)
        except BaseException:
            await response.aclose()
            raise
        return response

    async def ask(
        self,
        method: str,
        path: str,
        seconds: float,
        expected: str,
        *,
        model: str | None = None,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
        max_bytes: int = _MAX_BODY_BYTES,
    ) -> dict[str, Any]:
        """Send one request; return the JSON object of its answer.

        Args:
            method: The HTTP method.
            path: What follows the base URL.
            seconds: Seconds to wait for the answer, and then for the whole of it.
            expected: What the answer should be, for errors: `a list of models`.
            model: The model of the request, for errors.
            content: The body.
            params: The query.
            max_bytes: Bytes of the answer that are read.

        Raises:
            LLMError: The server cannot be reached, answers with an error, or with anything else.
        """
        answer = await self.ask_any(
            method,
            path,
            seconds,
            expected,
            model=model,
            content=content,
            params=params,
            max_bytes=max_bytes,
        )
        if not isinstance(answer, dict):
            raise self.make_unfitting(path, "other content", expected, model)
        return cast("dict[str, Any]", answer)

    async def ask_any(
        self,
        method: str,
        path: str,
        seconds: float,
        expected: str,
        *,
        model: str | None = None,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
        max_bytes: int = _MAX_BODY_BYTES,
    ) -> Any:
        """Send one request like `ask`; return the JSON of its answer, whatever it is.

        Raises:
            LLMError: The server cannot be reached, answers with an error, or with no JSON.
        """
        import httpx2

        url = self.shown_url + path
        headers = {"content-type": "application/json"} if content is not None else {}
        try:
            # Twice as long: for the connection, and for headers that never end.
            with anyio.fail_after(2 * seconds):
                response = await self.send(
                    method,
                    path,
                    seconds,
                    model=model,
                    headers=headers,
                    content=content,
                    params=params,
                )
        except TimeoutError as error:
            raise timeout_error(self.service, url, 2 * seconds, "answer", model=model) from error
        body = bytearray()
        try:
            with anyio.fail_after(seconds):
                await read_into(body, response, max_bytes)
            return from_json(bytes(body))
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise timeout_error(self.service, url, seconds, "whole answer", model=model) from error
        except httpx2.HTTPError as error:
            raise self._make_unreachable(url, error, model, was_reached=True) from error
        except ValueError as error:
            if (
                vendor := find_challenger(response.headers, bytes(body[:MAX_PAGE_BYTES]))
            ) is not None:
                raise self._make_challenge(path, response.status_code, vendor, model) from error
            raise self.make_unfitting(path, "other content", expected, model) from error
        finally:
            await response.aclose()

    async def content_type_error(
        self, response: httpx2.Response, path: str, expected: str, seconds: float, model: str | None
    ) -> LLMError:
        """Make the error for a success of another content type than `expected`, and close it."""
        kind = response.headers.get("content-type", "")
        try:
            body = b""
            if is_page(response.headers):
                body = await read_beginning(response, MAX_PAGE_BYTES, seconds)
        finally:
            await response.aclose()
        if (vendor := find_challenger(response.headers, body)) is not None:
            return self._make_challenge(path, response.status_code, vendor, model)
        return self.make_unfitting(
            path, f"`{kind}`" if kind else "no content type", expected, model
        )

    def make_unfitting(self, path: str, found: str, expected: str, model: str | None) -> LLMError:
        """Make the error for a successful answer of the wrong kind."""
        url = self.shown_url + path
        return unfitting_error(self.service, url, self.clean(found), expected, model=model)

    def api_error(
        self,
        details: Mapping[str, Any],
        request_id: str | None,
        model: str | None,
        headers: Mapping[str, str],
    ) -> LLMError:
        """Make the error for what a server said, without secrets that it echoed.

        Args:
            details: What it said, as `decode_error` returns it.
            request_id: Its id of the request.
            model: The model that was asked.
            headers: The headers of its answer, which may say when to come again.
        """
        message = self.clean(str(details.get("message") or "")[:_MAX_MESSAGE_CHARS])
        shown = {**details, "message": message, "reset_after": reset_wait(headers)}
        return api_error(self.service, shown, model=model, request_id=request_id)

    def clean(self, text: str) -> str:
        """Return `text` without the secrets, which a server may have echoed in any encoding."""
        from amplifier_guard import Redactor

        return Redactor(self._secrets).redact(text)

    def _note_answer(self, response: httpx2.Response) -> None:
        answers = self._answers
        if len(answers) >= self._most_answers:
            answers[:] = [each for each in answers if _is_open(each())]
            self._most_answers = 2 * len(answers) + _FEW_ANSWERS
        answers.append(ref(response))

    def _make_failure(
        self,
        error: BaseException,
        watch: RequestWatch | None,
        path: str,
        seconds: float,
        model: str | None,
    ) -> LLMError | None:
        """Make the error for a request without an answer; None for what is no failure of HTTP."""
        import httpx2

        url, proxy = self.shown_url + path, watch and watch.proxy
        if isinstance(error, httpx2.ConnectTimeout):
            limit = min(seconds, _MAX_CONNECT_SECONDS)
            return timeout_error(self.service, url, limit, "connection", model=model, proxy=proxy)
        if isinstance(error, httpx2.TimeoutException):
            return timeout_error(self.service, url, seconds, "answer", model=model)
        if not isinstance(error, httpx2.HTTPError | httpx2.InvalidURL):
            return None
        before = httpx2.ConnectError | httpx2.ProxyError | httpx2.InvalidURL
        is_lost = not isinstance(error, before)
        return self._make_unreachable(
            url, error, model, was_reached=is_lost, proxy=None if is_lost else proxy
        )

    def _connect(self, address: httpx2.URL) -> tuple[httpx2.AsyncClient, RequestWatch]:
        """Return what sends a request, and what sees its end."""
        if self.http_client is not None:
            check_usable(self.service.name, self.http_client)
            return self.http_client, RequestWatch(address)
        import httpx2

        try:
            if self._route is None:
                self._route = read_route(self._base_url)
            pools = loop_pools()
            pool = pools.take(self._route, self)
        except (ImportError, ValueError, OSError, httpx2.InvalidURL) as error:
            # It reads proxies and certificates from the environment.
            raise environment_error(self.service, str(error)) from error
        return pool.client, RequestWatch(address, lambda: pools.leave(pool))

    def _make_unreachable(
        self,
        url: str,
        error: Exception,
        model: str | None,
        *,
        was_reached: bool,
        proxy: str | None = None,
    ) -> LLMError:
        cause = self.clean(root_cause(error))
        return unreachable_error(
            self.service, url, cause, model=model, was_reached=was_reached, proxy=proxy
        )

    async def _make_refusal(
        self,
        response: httpx2.Response,
        path: str,
        seconds: float,
        model: str | None,
        *,
        can_read: bool,
    ) -> LLMError:
        """Make the error for an answer with an error status, or of a proxy."""
        status, headers = response.status_code, response.headers
        if 300 <= status < 400:
            location = self.clean(headers.get("location", ""))
            url = self.shown_url + path
            return redirect_error(self.service, url, status, location, model=model)
        # The beginning is enough, and an error must not take longer than an answer.
        body = await read_beginning(response, _MAX_BODY_BYTES, seconds) if can_read else b""
        if (vendor := find_challenger(headers, body)) is not None:
            return self._make_challenge(path, status, vendor, model)
        from amplifier_stream import decode_error

        details = decode_error(self.service.dialect, status, dict(headers), body)
        error = self.api_error(details, None, model, headers)
        if body:
            # Cut after it was cleaned: half a secret could not be found.
            text = body[: 2 * _MAX_MESSAGE_CHARS].decode(errors="replace")
            error.body = self.clean(text)[:_MAX_MESSAGE_CHARS]
        return error

    def _make_challenge(self, path: str, status: int, vendor: str, model: str | None) -> LLMError:
        return challenge_error(self.service, self.shown_url + path, status, vendor, model=model)


def _is_open(response: httpx2.Response | None) -> bool:
    return response is not None and not response.is_closed
