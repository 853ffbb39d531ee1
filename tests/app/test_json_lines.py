"""What programs get from `--json`."""

from __future__ import annotations

import errno
import io
import json
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from amplifier_app.json_lines import JsonLines, json_line

ODD = st.sampled_from([Decimal("1.5"), datetime(2026, 1, 1, tzinfo=UTC), b"\xff", object, {1, 2}])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | ODD,
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers() | st.none() | st.booleans(), inner)
    ),
    max_leaves=20,
)
ANY_TEXT = st.text(st.characters(categories=None))


def refuse(constant: str) -> None:
    raise AssertionError(constant)


# Holds: command-9
@given(ANY_TEXT, VALUES | ANY_TEXT)
def test_every_event_is_one_line_of_strict_json(event: str, data: Any) -> None:
    line = json_line(event, data)

    assert line.endswith(b"\n")
    assert len(line.decode("ascii").splitlines()) == 1
    parsed = json.loads(line, parse_constant=refuse)
    assert list(parsed) == ["event", "data"]
    json.dumps(parsed, ensure_ascii=False).encode()  # no lone surrogate is left


@given(st.floats(), st.integers(), ANY_TEXT)
def test_values_that_json_knows_stay(number: float, integer: int, text: str) -> None:
    values = {"number": number, "integer": integer, "text": text, "null": None, "yes": True}

    read = json.loads(json_line("e", values))["data"]

    assert read == {
        **values,
        "number": number if math.isfinite(number) else None,
        "text": "".join("\ufffd" if "\ud800" <= each <= "\udfff" else each for each in text),
    }


def test_odd_values_become_what_json_has_for_them() -> None:
    class Silent:
        def __str__(self) -> str:
            raise RuntimeError

    class Kind(Enum):
        FIRST = "first"

    class Model(BaseModel):
        text: str
        number: float = math.nan

    @dataclass
    class Place:
        line: int

    values = {
        "decimal": Decimal("1.50"),
        "datetime": datetime(2026, 1, 2, tzinfo=UTC),
        "set": {1},
        "enum": Kind.FIRST,
        "model": Model(text="a"),
        "dataclass": Place(2),
        "bytes": b"ab",
        "silent": Silent(),
        "infinity": -math.inf,
        2: "a key",
        True: "another",
    }
    assert json.loads(json_line("e", values))["data"] == {
        "decimal": "1.50",
        "datetime": "2026-01-02T00:00:00Z",
        "set": [1],
        "enum": "first",
        "model": {"text": "a", "number": None},
        "dataclass": {"line": 2},
        "bytes": "ab",
        "silent": "Silent",
        "infinity": None,
        "2": "a key",
        "true": "another",
    }


def test_what_json_cannot_hold_or_python_cannot_read_back_becomes_text() -> None:
    class Model(BaseModel):
        text: str = "\udc00"

    values = {
        "integers": [16**10_000, -(16**10_000)],  # more digits than Python reads or writes
        "digits": "1" * 10_000,
        "bytes": b"\xff",
        "model": Model(),
        "\udc00": {"\udc00": ("\udc00",)},
    }
    assert json.loads(json_line("\udc00", values)) == {
        "event": "\ufffd",
        "data": {
            "integers": ["0x1" + "0" * 10_000, "-0x1" + "0" * 10_000],
            "digits": "1" * 10_000,
            "bytes": "b'\\xff'",
            "model": "text='\\udc00'",
            "\ufffd": {"\ufffd": ["\ufffd"]},
        },
    }


# Holds: command-9
def test_nothing_that_a_terminal_acts_on_is_left() -> None:
    every = "".join(map(chr, [*range(32), *range(127, 160)]))
    line = json_line("e", every)
    assert all(0x20 <= byte < 0x7F for byte in line[:-1])
    assert json.loads(line)["data"] == every


def test_nesting_of_any_depth_is_one_line() -> None:
    deep: Any = "end"
    for _ in range(100_000):
        deep = [deep]
    assert json.loads(json_line("e", deep))["event"] == "e"
    circle: dict[str, Any] = {}
    circle["self"] = circle
    assert json.loads(json_line("e", circle))["event"] == "e"


def test_each_line_is_handed_over_at_once() -> None:
    class Reader(io.BytesIO):
        flushed = 0

        def flush(self) -> None:
            self.flushed = len(self.getvalue())

    reader = Reader()
    lines = JsonLines(reader)
    lines.handle("session:start", {"session_id": "s"})
    assert reader.flushed == len(reader.getvalue()) > 0
    lines.answer("done")
    assert reader.getvalue() == (
        b'{"event": "session:start", "data": {"session_id":"s"}}\n'
        b'{"event": "answer", "data": {"text":"done"}}\n'
    )


def test_a_reader_that_has_gone_is_told_once() -> None:
    class Closed(io.BytesIO):
        def write(self, data: Any) -> int:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    told: list[str] = []
    lines = JsonLines(Closed())
    lines.call_on_failure(lambda: told.append("gone"))
    lines.handle("a", {})
    lines.handle("b", {})
    assert told == ["gone"]
    assert isinstance(lines.failure, BrokenPipeError)
