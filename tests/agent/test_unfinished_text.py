"""The text of a response that is being written is the same on both engines, and bounded."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import _engine, unfinished_text
from amplifier_core.unfinished_text import PythonUnfinishedText

BOTH = [PythonUnfinishedText, _engine._UnfinishedText]

values = (
    st.none() | st.integers(0, 2) | st.sampled_from(["text", "thinking", "a", "é😀", "\ud800", ""])
)
data = st.fixed_dictionaries(
    {},
    optional={
        "block_type": st.just("text") | values,
        "block_index": values,
        "delta": values,
        "dropped": st.booleans(),
        "block": st.none() | st.fixed_dictionaries({}, optional={"text": values}),
    },
)
steps = st.lists(st.tuples(st.sampled_from(["add", "add", "add", "end", "clear"]), data))


@given(steps)
def test_both_keep_the_same(program: list[tuple[str, dict[str, Any]]]) -> None:
    ours, native = (kind() for kind in BOTH)
    for name, told in program:
        getattr(ours, name)(told)
        getattr(native, name)(told)
        assert str(ours) == str(native)


def delta(text: str, index: int = 0, kind: str = "text") -> dict[str, Any]:
    return {"block_type": kind, "block_index": index, "delta": text}


@pytest.mark.parametrize("kind", BOTH)
def test_it_is_the_text_alone_without_what_was_taken_back(kind: Any) -> None:
    text = kind()
    for told in (delta("hm", 0, "thinking"), delta("a ", 1), delta("lost", 2), delta("b", 1)):
        text.add(told)
    text.end({"block_index": 2, "dropped": True})
    assert str(text) == "a b"
    text.end({"block_index": 1, "block": {"type": "text", "text": "a b."}})
    assert str(text) == "a b."
    text.clear()
    assert str(text) == ""


@pytest.mark.parametrize("kind", BOTH)
def test_it_is_bounded_and_has_room_again(kind: Any) -> None:
    text, piece = kind(), "x" * 1024**2
    most = unfinished_text._ROOM // len(piece)
    for _ in range(2 * most):
        text.add(delta(piece))
    kept = str(text)
    assert len(kept) <= unfinished_text._ROOM
    text.end({"block_index": 0, "block": {"type": "text", "text": piece * 2 * most}})
    assert str(text) == kept
    text.end({"block_index": 0, "dropped": True})
    text.add(delta("again"))
    assert str(text) == "again"
