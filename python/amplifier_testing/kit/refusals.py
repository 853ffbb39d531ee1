"""Tests of what a provider makes of refusals and of answers that are none."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from amplifier_core import llm_errors
from amplifier_core.llm_errors import LLMError

from ..servers import Fault, Recorded
from ..servers.serving.fault import PAGE
from .base import KitBase, close
from .bench import Bench
from .conversation import make_question
from .failing import fail, kernel_kind
from .recorder import KitHooks

KINDS: dict[int, tuple[type[LLMError], bool]] = {
    400: (llm_errors.InvalidRequestError, False),
    401: (llm_errors.AuthenticationError, False),
    403: (llm_errors.AccessDeniedError, False),
    404: (llm_errors.NotFoundError, False),
    408: (llm_errors.LLMTimeoutError, True),
    413: (llm_errors.ContextLengthError, False),
    422: (llm_errors.InvalidRequestError, False),
    429: (llm_errors.RateLimitError, True),
    500: (llm_errors.ProviderUnavailableError, True),
    502: (llm_errors.ProviderUnavailableError, True),
    503: (llm_errors.ProviderUnavailableError, True),
    529: (llm_errors.ProviderUnavailableError, True),
}
"""The error of each status, and whether it is retryable."""


class RefusalTests(KitBase):
    """What a provider raises."""

    @pytest.mark.parametrize("status", KINDS)
    def test_a_refusal_is_the_error_of_its_status(self, status: int, backend: str) -> None:
        """It has the right class, `status_code` and `retryable`, and never the key."""
        kind, retryable = KINDS[status]

        async def check() -> None:
            async with self.bench() as bench:
                with self._listening() as logged:
                    error = await bench.ask_for_error(fault=Fault(status=status))
                if kernel_kind(error) is not kind:
                    fail(f"status {status} is a `{type(error).__name__}`, not a `{kind.__name__}`")
                if error.status_code != status:
                    fail(f"`status_code` of status {status} is {error.status_code}")
                if error.retryable is not retryable:
                    fail(f"`retryable` of status {status} is {error.retryable}, not {retryable}")
                self._expect_no_key(bench, error, logged)

        self.run(check, backend)

    def test_an_error_that_quotes_the_key_does_not_show_it(self, backend: str) -> None:
        """A service may echo the key: no error, event or log shows it."""

        async def check() -> None:
            for fault in (
                Fault(status=401, message=f"the key {self.key} is wrong"),
                Fault(status=500, message=f"failed for {self.key}"),
                Fault(error_after=1, message=f"failed for {self.key}"),
            ):
                async with self.bench() as bench:
                    with self._listening() as logged:
                        error = await bench.ask_for_error("Yes.", fault=fault)
                    self._expect_no_key(bench, error, logged)

        self.run(check, backend)

    def test_the_provider_does_not_show_its_key(self, backend: str) -> None:
        """Neither `repr` nor `str` of the provider nor its description has it."""

        async def check() -> None:
            async with self.bench() as bench:
                provider = bench.provider
                for what, shown in (
                    ("repr", repr(provider)),
                    ("str", str(provider)),
                    ("get_info", repr(provider.get_info())),
                ):
                    if self.key in shown:
                        fail(f"`{what}` of the provider shows the key")

        self.run(check, backend)

    @pytest.mark.parametrize("body", ["html", "empty", "no JSON"])
    def test_a_refusal_without_an_error_body_counts_by_its_status(
        self, body: Any, backend: str
    ) -> None:
        """A proxy may answer in the place of the service, with a page or with nothing."""

        async def check() -> None:
            for status in (401, 503):
                given = b"{oops" if body == "no JSON" else body
                fault = Fault(status=status, body=given)
                async with self.bench() as bench:
                    error = await bench.ask_for_error(fault=fault)
                kind, _ = KINDS[status]
                if kernel_kind(error) is not kind or error.status_code != status:
                    fail(
                        f"status {status} with the body `{body}` is {error!r}, not a `{kind.__name__}`"
                    )

        self.run(check, backend)

    def test_a_page_in_the_place_of_an_answer_is_an_error(self, backend: str) -> None:
        """A page, or an answer under the type of a page, is a typed error and never a response."""

        async def check() -> None:
            page = Recorded(PAGE, content_type="text/html; charset=utf-8")
            for answer, fault in ((page, Fault()), ("Yes.", Fault(content_type="text/html"))):
                async with self.bench() as bench:
                    await bench.ask_for_error(answer, fault=fault)

        self.run(check, backend)

    def test_a_connection_that_is_lost_is_a_network_error(self, backend: str) -> None:
        """A server that hangs up before its answer, or that is not there, is a `NetworkError`.

        Whether one that is not there is asked again is up to the provider, which may know that nobody
        starts it meanwhile.
        """

        async def check() -> None:
            with self.serving() as server:
                address = self.base_url(server)
                async with self.bench(server=server) as bench:
                    fault = Fault(hang_up=True)
                    error = await bench.ask_for_error(fault=fault)
                    _expect_network(error)
                    if not error.retryable:
                        fail("a lost connection is not retryable")
            provider = self.make_provider(address, KitHooks())
            try:
                await provider.complete(make_question())
            except LLMError as error:
                _expect_network(error)
            else:
                fail("there is an answer, although nobody listens at the address")
            finally:
                await close(provider)

        self.run(check, backend)

    def test_a_redirect_never_takes_the_key_along(self, backend: str) -> None:
        """Another host, to which a response leads, does not get the key."""

        async def check() -> None:
            with self.serving() as other:
                for status in (301, 302, 307, 308):
                    headers = {"location": other.root.replace("127.0.0.1", "localhost") + "/"}
                    fault = Fault(status=status, headers=headers)
                    async with self.bench() as bench:
                        await bench.ask_for_error(fault=fault)
                    if any(self.key in str(seen.headers) for seen in other.requests):
                        fail(f"the key was sent to the host that status {status} named")

        self.run(check, backend)

    @contextmanager
    def _listening(self) -> Generator[list[str]]:
        """Keep what is logged, also at the lowest level."""
        logged: list[str] = []

        class Handler(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                logged.append(record.getMessage())

        root, handler = logging.getLogger(), Handler()
        level = root.level
        root.addHandler(handler)
        root.setLevel(logging.DEBUG)
        try:
            yield logged
        finally:
            root.setLevel(level)
            root.removeHandler(handler)

    def _expect_no_key(self, bench: Bench, error: LLMError, logged: list[str]) -> None:
        for what, shown in (
            ("the message of the error", str(error)),
            ("`repr` of the error", repr(error)),
            ("the attributes of the error", repr(vars(error))),
            ("the traceback", "".join(traceback.format_exception(error))),
            ("an event", repr(bench.hooks.events)),
            ("the log", "\n".join(logged)),
        ):
            if self.key in shown:
                fail(f"{what} shows the key ({type(error).__name__}, status {error.status_code})")


def _expect_network(error: LLMError) -> None:
    if kernel_kind(error) is not llm_errors.NetworkError:
        fail(f"a lost connection is a `{type(error).__name__}`, not a `NetworkError`: {error}")
