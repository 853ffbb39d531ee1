"""Lines of JSON from Python."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_stream import NdjsonDecoder, StreamLimitError, StreamLineError


def feed_all(decoder: NdjsonDecoder, chunks: Iterable[bytes], values: list[Any]) -> None:
    for chunk in chunks:
        values += decoder.feed(chunk)
    values += decoder.finish()


def test_blank_lines_are_skipped_and_the_last_line_needs_no_end() -> None:
    decoder = NdjsonDecoder()
    assert decoder.feed(b'\xef\xbb\xbf{"a": [1, null]}\n\n \r\n"b"\r\n12345678901234567890') == [
        {"a": [1, None]},
        "b",
    ]
    assert decoder.finish() == [12345678901234567890]


def test_a_line_that_is_not_json_is_told_after_the_values_before_it_whatever_the_chunks() -> None:
    wire = b"1\n\n{2}\n3\n"
    for cut in range(len(wire) + 1):
        decoder = NdjsonDecoder()
        values: list[Any] = []
        message = "line 3 of the stream is not JSON: expected a key in double quotes, found `2`"
        with pytest.raises(StreamLineError, match=message):
            feed_all(decoder, [wire[:cut], wire[cut:], b""], values)
        assert values == [1]
        with pytest.raises(StreamLineError, match="line 3"):
            decoder.finish()


def test_a_last_line_that_was_cut_is_told_at_the_end() -> None:
    decoder = NdjsonDecoder()
    assert decoder.feed(b'1\n{"a"') == [1]
    with pytest.raises(StreamLineError, match="line 2"):
        decoder.finish()


@pytest.mark.parametrize("line", [b"NaN", b'"\xff"', b'"\\ud83d"', b"[" * 100_000, b"1e", b"1 2"])
def test_what_is_no_json_is_refused_and_never_replaced(line: bytes) -> None:
    with pytest.raises(StreamLineError, match="line 1 of the stream is not JSON"):
        NdjsonDecoder().feed(line + b"\n")


def test_values_before_a_broken_limit_come_first_whatever_the_chunks() -> None:
    wire = b"1\n12345\n"
    for cut in range(len(wire) + 1):
        decoder = NdjsonDecoder(max_line_bytes=4)
        values: list[Any] = []
        with pytest.raises(StreamLimitError, match=r"`max_line_bytes` \(4 bytes\)"):
            feed_all(decoder, [wire[:cut], wire[cut:], b""], values)
        assert values == [1]
    with pytest.raises(StreamLimitError, match=r"`max_total_bytes` \(3 bytes\)"):
        NdjsonDecoder(max_total_bytes=3).feed(b"\n\n\n\n")


def test_an_endless_line_is_an_error_and_not_a_buffer() -> None:
    decoder = NdjsonDecoder(max_line_bytes=1_000_000)
    with pytest.raises(StreamLimitError):
        feed_all(decoder, itertools.repeat(b" " * 65_536), [])


def test_misuse_is_told() -> None:
    decoder = NdjsonDecoder()
    with pytest.raises(TypeError, match="str"):
        decoder.feed("{}\n")  # pyright: ignore[reportArgumentType]
    decoder.finish()
    with pytest.raises(RuntimeError, match="already finished"):
        decoder.feed(b"")
    with pytest.raises(RuntimeError, match="already finished"):
        decoder.finish()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=8,
)


@given(st.lists(VALUES), st.sampled_from(["\n", "\r\n", "\n\n"]), st.booleans(), st.data())
def test_chunk_boundaries_do_not_matter(
    given_values: list[Any], end: str, is_ascii: bool, data: st.DataObject
) -> None:
    lines = [json.dumps(value, ensure_ascii=is_ascii) for value in given_values]
    wire = end.join(lines).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(wire)))))
    values: list[Any] = []
    pieces = [wire[begin:stop] for begin, stop in itertools.pairwise([0, *cuts, len(wire)])]
    feed_all(NdjsonDecoder(), pieces, values)
    assert values == given_values
