"""What reads the output of a command, also where pipes can only be waited for."""

from __future__ import annotations

import os

import pytest

from amplifier_modules.tools.bash import output_reader
from amplifier_modules.tools.bash.output_reader import (
    OutputReader,
    PollingReader,
    WaitingReader,
    choose_reader,
)

READERS = pytest.mark.parametrize("reader", [PollingReader, WaitingReader])


def test_on_windows_outputs_are_waited_for() -> None:
    assert choose_reader("win32") is WaitingReader
    assert [choose_reader(each) for each in ("linux", "darwin")] == [PollingReader] * 2


# Holds: sandbox-43, sandbox-103
@READERS
def test_all_that_was_written_is_taken_and_nothing_is_left_open(
    reader: type[OutputReader],
) -> None:
    before = len(os.listdir("/proc/self/fd"))
    pieces: list[bytes] = []
    output = reader(pieces.append)
    copies: list[int] = []
    output.hand_out(lambda writing: copies.append(os.dup(writing)))
    output.start()
    for _ in range(40):
        os.write(copies[0], b"x" * 10_000)
    os.close(copies[0])
    output.finish()
    assert b"".join(pieces) == b"x" * 400_000
    assert len(os.listdir("/proc/self/fd")) == before


@READERS
def test_what_could_not_be_started_leaves_nothing_open(reader: type[OutputReader]) -> None:
    before = len(os.listdir("/proc/self/fd"))
    output = reader(lambda _piece: None)

    def fail(_writing: int) -> None:
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        output.hand_out(fail)
    output.finish()
    assert len(os.listdir("/proc/self/fd")) == before


# Holds: sandbox-103
@READERS
def test_what_holds_an_output_open_is_not_waited_for(
    reader: type[OutputReader], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output_reader, "_SECONDS_AFTER_END", 0.1)
    pieces: list[bytes] = []
    output = reader(pieces.append)
    held: list[int] = []
    output.hand_out(lambda writing: held.append(os.dup(writing)))
    os.write(held[0], b"x")
    output.start()
    output.finish()
    os.close(held[0])
    assert pieces == [b"x"]
