"""Faults of refusals, retries and cancellation."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import anyio
import httpx2
from planted import found_by
from tiny_provider import Reading, TinyProvider

from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatResponse


@found_by(
    "a_refusal_is_the_error_of_its_status", "status 413 is a `InvalidRequestError`", status=413
)
class NeverTooLong(TinyProvider):
    """Takes status 413 for an invalid request."""

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> LLMError:
        error = super().refusal(400 if status == 413 else status, headers, body)
        error.status_code = status
        return error


@found_by("a_refusal_is_the_error_of_its_status", "`retryable` of status 401 is True", status=401)
class HopesFor401(TinyProvider):
    """Treats 401 as retryable."""

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> LLMError:
        error = super().refusal(status, headers, body)
        error.retryable = error.retryable or status == 401
        return error


@found_by("an_error_that_quotes_the_key_does_not_show_it", "the message of the error shows the key")
class LeaksKey(TinyProvider):
    """Leaks the key in an error."""

    def clean(self, text: str) -> str:
        return text


@found_by("the_provider_does_not_show_its_key", "`repr` of the provider shows the key")
class ShowsKey(TinyProvider):
    """Shows its key in its own text."""

    def __repr__(self) -> str:
        return f"TinyProvider({self.base_url!r}, {self.key!r})"


@found_by("a_refusal_without_an_error_body_counts_by_its_status", "status 401", body="html")
class ReadsPages(TinyProvider):
    """Takes each page for a service that is down."""

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> LLMError:
        return super().refusal(502 if body.startswith(b"<") else status, headers, body)


@found_by("a_page_in_the_place_of_an_answer_is_an_error", "`complete` returned")
class TakesPages(TinyProvider):
    """Takes a page for an answer without content."""

    def check_type(self, response: httpx2.Response) -> None:
        pass

    def check_end(self, reading: Reading) -> None:
        if reading.blocks:
            super().check_end(reading)


@found_by(
    "a_connection_that_is_lost_is_a_network_error", "raised `RemoteProtocolError|raised `\\w*Error"
)
class RaisesOthers(TinyProvider):
    """Raises the errors of its HTTP client."""

    def lost(self, error: Exception) -> Any:
        return error


@found_by("a_redirect_never_takes_the_key_along", "the key was sent to the host that status 30")
class FollowsRedirects(TinyProvider):
    """Follows redirects with the key."""

    follows_redirects = True


@found_by("what_does_not_pass_is_asked_once", "refused with 400 was sent 4 times", name="400")
class Retries400(TinyProvider):
    """Retries 400."""

    def may_retry(self, error: LLMError, reading: Reading) -> bool:
        return super().may_retry(error, reading) or error.status_code == 400


@found_by("what_may_pass_is_asked_again", "the service was not asked again after 529", name="529")
class GivesUp(TinyProvider):
    """Does not retry an overload."""

    def may_retry(self, error: LLMError, reading: Reading) -> bool:
        return super().may_retry(error, reading) and error.status_code != 529


@found_by("retry_after_is_the_least_wait", "`retry-after: 40` with status 429: asked again after [0-4]",
          status=429, form="seconds")  # fmt: skip
class Impatient(TinyProvider):
    """Ignores retry-after."""

    def wait(self, error: LLMError, attempt: int) -> float:
        return 0.5 * 2**attempt


@found_by("retry_after_is_the_least_wait", "asked again after [0-4]", status=503, form="a date")
class ReadsNoDates(TinyProvider):
    """Ignores a retry-after that is a date."""

    def retry_after(self, text: str) -> float | None:
        return super().retry_after(text) if text[:1].isdigit() else None


@found_by("retries_end", "a service that is down was asked")
class NeverGivesUp(TinyProvider):
    """Never gives up."""

    async def tries(self, body: dict[str, Any], names: dict[str, str]) -> ChatResponse:
        for _ in range(30):
            try:
                return await super().tries(body, names)
            except LLMError as error:
                if not error.retryable:
                    raise
        return await super().tries(body, names)


@found_by(
    "a_call_can_be_cancelled_at_every_await", "connections are open after `complete` was canc"
)
class LeavesOpen(TinyProvider):
    """Leaves a connection open after a cancellation."""

    async def read(self, body: dict[str, Any], names: dict[str, str], reading: Reading) -> None:
        url = httpx2.URL(self.base_url)
        second = await anyio.connect_tcp(url.host, url.port or 80)
        vars(self).setdefault("opened", []).append(second)
        await super().read(body, names, reading)
        await second.aclose()


@found_by("a_call_can_be_cancelled_at_every_await", "raised `NetworkError: .*not the cancellation")
class SwallowsCancellation(TinyProvider):
    """Takes a cancellation for a lost connection."""

    async def read(self, body: dict[str, Any], names: dict[str, str], reading: Reading) -> None:
        try:
            await super().read(body, names, reading)
        except anyio.get_cancelled_exc_class() as error:
            reading.is_shown = True
            raise self.lost(Exception(error)) from None


@found_by(
    "a_call_that_waits_for_the_service_can_be_cancelled", "the connection of a cancelled call"
)
class Shielded(TinyProvider):
    """Goes on in the background after a cancellation."""

    async def read(self, body: dict[str, Any], names: dict[str, str], reading: Reading) -> None:
        task = asyncio.ensure_future(super().read(body, names, reading))
        vars(self).setdefault("tasks", []).append(task)
        await asyncio.shield(task)

    async def close(self) -> None:
        for task in vars(self).get("tasks", []):
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await super().close()
