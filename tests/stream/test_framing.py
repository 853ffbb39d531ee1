"""Server-sent events from Python."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_stream import SseDecoder, SseEvent, StreamLimitError


def feed_all(decoder: SseDecoder, chunks: Iterable[bytes], events: list[SseEvent]) -> None:
    for chunk in chunks:
        events += decoder.feed(chunk)


def test_an_event_has_its_fields() -> None:
    decoder = SseDecoder()
    events = decoder.feed(b": hi\nid: 7\nretry: 30\nevent: news\ndata: a\ndata: b\n\ndata: c\n\n")
    assert events == [SseEvent("news", "a\nb", "7", 30), SseEvent(data="c", id="7")]
    assert repr(events[1]) == "SseEvent(event='message', data='c', id='7', retry=None)"
    assert hash(events[1]) == hash(SseEvent("message", "c", "7"))
    assert decoder.finish() == []


def test_an_event_without_its_blank_line_is_dropped() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: cut\n") == []
    assert decoder.finish() == []


def test_events_before_a_broken_limit_come_first_whatever_the_chunks() -> None:
    wire = b"data: 1\n\ndata: 12345\n\n"
    for cut in range(len(wire) + 1):
        decoder = SseDecoder(max_line_bytes=10)
        events: list[SseEvent] = []
        message = r"a line of the stream is longer than `max_line_bytes` \(10 bytes\)"
        with pytest.raises(StreamLimitError, match=message):
            feed_all(decoder, [wire[:cut], wire[cut:], b""], events)
        assert events == [SseEvent(data="1")]
        with pytest.raises(StreamLimitError):
            decoder.finish()


def test_an_endless_line_is_an_error_and_not_a_buffer() -> None:
    decoder = SseDecoder(max_line_bytes=1_000_000)
    events: list[SseEvent] = []
    with pytest.raises(StreamLimitError):
        feed_all(decoder, itertools.repeat(b"x" * 65_536), events)


def test_a_stream_over_its_limit_is_an_error() -> None:
    decoder = SseDecoder(max_total_bytes=12)
    assert decoder.feed(b"data: 1\n\ndata: 2\n\n") == [SseEvent(data="1")]
    with pytest.raises(StreamLimitError, match=r"`max_total_bytes` \(12 bytes\)"):
        decoder.feed(b"")


def test_misuse_is_told() -> None:
    decoder = SseDecoder()
    with pytest.raises(TypeError, match="str"):
        decoder.feed("data: x\n\n")  # pyright: ignore[reportArgumentType]
    decoder.finish()
    with pytest.raises(RuntimeError, match="already finished"):
        decoder.feed(b"")
    with pytest.raises(RuntimeError, match="already finished"):
        decoder.finish()


@given(
    st.lists(st.text(st.characters(exclude_characters="\n\r", codec="utf-8"))),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.data(),
)
def test_chunk_boundaries_do_not_matter(texts: list[str], end: str, data: st.DataObject) -> None:
    wire = "".join(f"data: {text}{end}{end}" for text in texts).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(wire)))))
    decoder = SseDecoder()
    found = [
        event.data
        for begin, end_ in zip([0, *cuts], [*cuts, len(wire)], strict=True)
        for event in decoder.feed(wire[begin:end_])
    ]
    assert found == texts
