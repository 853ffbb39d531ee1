"""Tests of what a provider asks for again, and after how long."""

from __future__ import annotations

import pytest

from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatResponse

from ..servers import Fault, http_date
from .base import KitBase
from .bench import Bench
from .conversation import text_of
from .failing import fail

WAIT = 40.0
"""Seconds that the service asks to wait: longer than a provider waits by itself."""
_TOLERANCE = 1.5
"""Seconds by which a date of whole seconds, and the way to the server, may be off."""
PASSING: dict[str, Fault] = {
    **{str(status): Fault(status=status) for status in (429, 500, 502, 503, 529)},
    "hang-up": Fault(hang_up=True),
    "cut": Fault(cut=0),
}
LASTING: dict[str, Fault] = {
    str(status): Fault(status=status) for status in (400, 401, 403, 404, 413, 422)
}


class RetryTests(KitBase):
    """When a provider asks again. No test here waits: see `clock`."""

    @pytest.mark.parametrize("name", LASTING)
    def test_what_does_not_pass_is_asked_once(self, name: str, backend: str) -> None:
        """A request that was refused for what it is, is never sent again."""

        async def check() -> None:
            async with self.bench() as bench:
                await bench.ask_for_error(fault=LASTING[name])
                if len(bench.server.requests) != 1:
                    fail(
                        f"a request refused with {name} was sent {len(bench.server.requests)} times"
                    )

        self.run(check, backend)

    @pytest.mark.parametrize("name", PASSING)
    def test_what_may_pass_is_asked_again(self, name: str, backend: str) -> None:
        """A failure that passes by itself ends in the answer, and the request is the same."""
        self.check_claim("retries")

        async def check() -> None:
            async with self.bench() as bench:
                response = await self._second_try(bench, PASSING[name], name)
                if text_of(response) != "Yes.":
                    fail(f"after {name} the answer is {text_of(response)!r}, not 'Yes.'")
                first, second = bench.server.requests
                if first.raw != second.raw:
                    fail(f"after {name} another request was sent than the first time")

        self.run(check, backend)

    @pytest.mark.parametrize("form", ["seconds", "a part of a second", "a date"])
    @pytest.mark.parametrize("status", [429, 503])
    def test_retry_after_is_the_least_wait(self, status: int, form: str, backend: str) -> None:
        """The service is not asked again before the time that it named."""
        self.check_claim("retries")

        async def check() -> None:
            value = {"seconds": "40", "a part of a second": "40.5"}.get(form) or http_date(WAIT)
            fault = Fault(status=status, headers={"retry-after": value})
            async with self.bench() as bench:
                await self._second_try(bench, fault, f"status {status} with retry-after: {value}")
                first, second = bench.server.requests
                waited = second.at - first.at
                if waited < WAIT - _TOLERANCE:
                    fail(
                        f"`retry-after: {value}` with status {status}: asked again after"
                        f" {waited:.1f} s"
                    )

        self.run(check, backend)

    def test_retries_end(self, backend: str) -> None:
        """A failure that does not pass is raised after some tries, with waits between them."""
        self.check_claim("retries")

        async def check() -> None:
            async with self.bench() as bench:
                await bench.ask_for_error(fault=Fault(status=503))
                times = [request.at for request in bench.server.requests]
                if not 2 <= len(times) <= 30:
                    fail(f"a service that is down was asked {len(times)} times")
                if times[-1] - times[0] < 0.1:
                    fail(f"{len(times)} requests were sent within {times[-1] - times[0]:.3f} s")

        self.run(check, backend)

    async def _second_try(self, bench: Bench, fault: Fault, what: str) -> ChatResponse:
        response = await bench.ask_for_outcome("Yes.", fault=fault, then=Fault())
        if isinstance(response, LLMError):
            fail(f"the service was not asked again after {what}: {response!r}")
        if len(bench.server.requests) != 2:
            fail(
                f"after {what} the service was asked {len(bench.server.requests)} times, not twice"
            )
        return response
