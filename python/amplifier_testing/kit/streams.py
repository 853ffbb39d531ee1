"""Tests of streams that are cut, split, damaged or end in an error."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from amplifier_core.llm_errors import LLMError, ProviderUnavailableError, StreamError
from amplifier_core.message_models import ChatRequest, ChatResponse
from amplifier_providers.answers.pieces import text_of_piece

from ..servers import Answer, Fault, Recorded
from ..servers.serving.exchange import split_pieces
from .base import KitBase
from .bench import Bench, is_sse
from .conversation import MIXED, ONE_CALL, TALE, essence_of, make_question, scripted_text
from .failing import fail, kernel_kind, write_fault

LONG = Answer(TALE * 8, fragment=6)
LATE = (Fault(cut=2_500), Fault(malformed=12), Fault(error_after=12))
"""What goes wrong in the middle of `LONG`."""
LONG_RUN = 600
"""Seconds for a test that goes through all bytes of a stream."""
_OTHER_BACKENDS = 16
"""Under the second event loop one of so many places is tried."""
_FAILURES = 3
"""Answers that are damaged in a row: a provider may have a circuit breaker."""
_TAIL = 24
"""Bytes at the end of a stream of which each is tried in any case."""


class StreamTests(KitBase):
    """What a provider makes of a stream that is not as it should be."""

    def test_an_answer_cut_off_at_any_byte_is_never_a_response(self, backend: str) -> None:
        """A stream that ends early is a typed error, or was whole already; no call of it is run."""

        async def check() -> None:
            refused = Fault(status=401)  # if it is asked again: that is not what is tried here
            async with self.bench() as bench:
                expected = essence_of(await bench.ask(ONE_CALL))
                size = len(bench.answer_again(ONE_CALL).body)
                for number, cut in enumerate(self._list_places(size, backend), 1):
                    found = await bench.ask_for_outcome(
                        ONE_CALL, fault=Fault(cut=cut), then=refused
                    )
                    where = f"an answer that was cut off at byte {cut} of {size}"
                    if isinstance(found, ChatResponse):
                        if essence_of(found) != expected:
                            fail(f"{where} became the response {essence_of(found)}, not {expected}")
                    elif len(bench.server.requests) == 1:
                        _expect_kind(found, StreamError, where)
                    bench.expect_order(where)
                    if number % _FAILURES == 0:
                        await _expect_answer(bench, ONE_CALL, expected, where)

        self.run(check, backend, seconds=LONG_RUN)

    def test_an_answer_split_at_any_byte_is_the_same(self, backend: str) -> None:
        """It does not matter in which pieces the bytes of a stream arrive."""

        async def check() -> None:
            async with self.bench() as bench:
                expected = essence_of(await bench.ask(MIXED))
                body = bench.answer_again(MIXED)
                size = len(body.body)
                pieces = [*range(1, 9), *range(9, size, max(1, size // self.pieces))]
                for piece in pieces:
                    fault = Fault(piece=piece)
                    found = await bench.ask(MIXED, fault=fault)
                    if essence_of(found) != expected:
                        fail(
                            f"a stream in pieces of {piece} bytes became {essence_of(found)},"
                            f" in larger ones {expected}"
                        )

        self.run(check, backend, seconds=LONG_RUN)

    def test_an_answer_without_its_last_newline_loses_nothing(self, backend: str) -> None:
        """The last line counts without its end; of server-sent events it may be an error."""

        async def check() -> None:
            async with self.bench() as bench:
                expected = essence_of(await bench.ask(MIXED))
                whole = bench.answer_again(MIXED)
                bare = Recorded(whole.body.rstrip(b"\r\n"), content_type=whole.content_type)
                found = await bench.ask_for_outcome(bare)
                if isinstance(found, LLMError):
                    if not is_sse(whole):
                        fail(f"an answer without its last newline is refused: {found!r}")
                    _expect_kind(found, StreamError, "an answer without its last newline")
                elif essence_of(found) != expected:
                    fail(
                        f"an answer without its last newline became {essence_of(found)}, not {expected}"
                    )

        self.run(check, backend)

    def test_signs_of_life_are_no_part_of_the_answer(self, backend: str) -> None:
        """Comments of server-sent events, or blank lines of lines of JSON, are passed over."""

        async def check() -> None:
            async with self.bench() as bench:
                expected = essence_of(await bench.ask(MIXED))
                sign = b": ping\n\n" if is_sse(bench.answer_again(MIXED)) else b"\n"
                for place in range(6):
                    found = await bench.ask(MIXED, fault=Fault(insert={place: sign}))
                    if essence_of(found) != expected:
                        fail(
                            f"with {sign!r} before event {place} the answer is {essence_of(found)}"
                        )

        self.run(check, backend)

    def test_an_event_that_is_no_json_ends_the_answer(self, backend: str) -> None:
        """An event that cannot be read is a `StreamError`, if it may be a part of the answer."""

        async def check() -> None:
            async with self.bench() as bench:
                expected = essence_of(await bench.ask(MIXED))
                for place in _places_of_json(bench.answer_again(MIXED)):
                    fault = Fault(malformed=place)
                    found = await bench.ask_for_outcome(MIXED, fault=fault)
                    where = f"an answer whose event {place} is no JSON"
                    # It may have been a sign of life.
                    if not isinstance(found, ChatResponse) or essence_of(found) != expected:
                        _expect_kind(found, StreamError, where)
                    await _expect_answer(bench, MIXED, expected, where)

        self.run(check, backend)

    def test_an_error_in_a_stream_is_raised(self, backend: str) -> None:
        """An error that the service sends under status 200 is an error, wherever it comes."""

        async def check() -> None:
            async with self.bench() as bench:
                expected = essence_of(await bench.ask(MIXED))
                for after in _places_of_json(bench.answer_again(MIXED))[:-1]:
                    fault = Fault(error_after=after, kind="overloaded_error")
                    found = await bench.ask_for_outcome(MIXED, fault=fault)
                    where = f"an answer with an error of the service after {after} events"
                    _expect_kind(found, ProviderUnavailableError, where)
                    await _expect_answer(bench, MIXED, expected, where)

        self.run(check, backend)

    def test_nothing_is_asked_for_again_after_it_was_shown(self, backend: str) -> None:
        """A call that broke after a part of its answer was shown to hooks is not repeated."""
        self.check_claim("retries")

        async def check() -> None:
            was_shown = False
            for fault in LATE:
                async with self.bench() as bench:
                    await bench.ask_for_error(LONG, fault=fault, then=Fault(status=401))
                    was_shown = was_shown or bench.hooks.showed_something
                    if bench.hooks.showed_something and len(bench.server.requests) > 1:
                        fail(
                            f"the service was asked again after text was shown ({write_fault(fault)})"
                        )
            if not was_shown:
                pytest.skip("`complete` of the provider emits no `content_block:delta`")

        self.run(check, backend)

    def test_chunks_add_up_to_the_answer(self, backend: str) -> None:
        """The texts of `chunks` are those of its response, which comes last."""

        async def check() -> None:
            async with self.bench([MIXED]) as bench:
                pieces = await _collect_pieces(self.chunks_of(bench), [])
                text = "".join(map(text_of_piece, pieces))
                if not pieces:
                    fail("`chunks` yielded nothing")
                last = pieces[-1]
                if text != scripted_text(MIXED):
                    fail(f"`chunks` yielded the text {text!r}, not {scripted_text(MIXED)!r}")
                if isinstance(last, ChatResponse):
                    whole = essence_of(await bench.ask(MIXED))
                    if essence_of(last) != whole:
                        fail(f"`chunks` ended with {essence_of(last)}, `complete` returned {whole}")

        self.run(check, backend)

    def test_chunks_of_an_answer_that_was_cut_off_raise(self, backend: str) -> None:
        """`chunks` yields no response of a cut answer, and no text twice."""

        async def check() -> None:
            for fault in LATE:
                async with self.bench([LONG] * 9, faults=[fault] * 9) as bench:
                    yielded: list[Any] = []
                    try:
                        await _collect_pieces(self.chunks_of(bench), yielded)
                    except LLMError:
                        text = "".join(map(text_of_piece, yielded))
                        if not scripted_text(LONG).startswith(text):
                            fail(f"`chunks` yielded a text twice: {text!r} ({write_fault(fault)})")
                    else:
                        fail(f"`chunks` ended as if the answer were whole ({write_fault(fault)})")

        self.run(check, backend)

    def _list_places(self, size: int, backend: str) -> Iterator[int]:
        """Return the bytes to cut at: each by the stride, and the last ones, where it matters."""
        stride = self.stride * (1 if backend == self.backends[0] else _OTHER_BACKENDS)
        end = max(0, size - _TAIL)
        yield from range(0, end, stride)
        yield from range(end, size)


async def _expect_answer(
    bench: Bench, answer: Answer, expected: list[tuple[Any, ...]], where: str
) -> None:
    """Fail unless the next call has its answer."""
    found = await bench.ask_for_outcome(answer)
    if isinstance(found, LLMError):
        fail(f"after {where} the next call failed: {found!r}")
    if essence_of(found) != expected:
        fail(f"after {where} the next call returned {essence_of(found)}, not {expected}")


async def _collect_pieces(
    chunks: Callable[[ChatRequest], AsyncIterator[Any]], pieces: list[Any]
) -> list[Any]:
    async for piece in chunks(make_question()):
        pieces.append(piece)  # noqa: PERF401 -- what came before an error counts
    return pieces


def _expect_kind(found: ChatResponse | LLMError, kind: type[LLMError], where: str) -> None:
    if isinstance(found, ChatResponse):
        fail(f"{where} became the response {essence_of(found)}")
    if kernel_kind(found) is not kind:
        fail(f"{where} is a `{type(found).__name__}`, not a `{kind.__name__}`: {found}")


def _places_of_json(body: Recorded) -> list[int]:
    """Return the places of the events that hold JSON."""
    if not is_sse(body):
        return list(range(len(body.body.splitlines())))
    return [
        n for n, event in enumerate(split_pieces(body.body, body.content_type)) if b"{" in event
    ]
