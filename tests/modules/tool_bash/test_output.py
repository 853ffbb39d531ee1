"""The output of commands: bounded, of whole characters, and the whole of it in a file."""

from __future__ import annotations

import errno
import itertools
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_modules.tools.bash import output_file
from amplifier_modules.tools.bash.captured_output import CapturedOutput
from amplifier_modules.tools.bash.output_file import OutputFile
from amplifier_modules.tools.bash.output_window import OutputWindow

PIECES = st.lists(st.text("ab\né€😀", max_size=20).map(str.encode) | st.binary(max_size=20))


# Holds: sandbox-42
@given(PIECES, st.lists(st.integers(0, 200), max_size=5))
def test_what_fits_is_shown_whole_whenever_it_is_taken(
    pieces: list[bytes], cuts: list[int]
) -> None:
    whole = b"".join(pieces)
    places = sorted({0, *(min(cut, len(whole)) for cut in cuts), len(whole)})
    window, shown = OutputWindow(1000), ""
    for start, end in itertools.pairwise(places):
        window.add(whole[start:end])
        text, is_cut = window.take(is_over=end == len(whole))
        assert not is_cut
        shown += text
    shown += window.take(is_over=True)[0]
    if _is_text(whole):
        assert shown == whole.decode()
    else:
        assert "\ufffd" in shown


# Holds: sandbox-42
@given(st.text("ab\né€😀", min_size=40).map(str.encode), st.integers(1, 7))
def test_of_what_does_not_fit_both_ends_are_shown_and_the_rest_is_counted(
    whole: bytes, step: int
) -> None:
    window = OutputWindow(32)
    for at in range(0, len(whole), step):
        window.add(whole[at : at + step])
    text, is_cut = window.take(is_over=True)
    assert is_cut is (len(whole) > 32)
    if not is_cut:
        assert text == whole.decode()
        return
    head, found, rest = text.partition("[… ")
    count, _, tail = rest.partition(" bytes are left out here …]\n")
    assert found
    assert "\ufffd" not in text
    beginning, end = head.encode(), tail.encode()
    if not whole.startswith(beginning):
        beginning = beginning.removesuffix(b"\n")
    assert whole.startswith(beginning)
    assert whole.endswith(end)
    assert len(beginning) <= 17
    assert len(end) <= 16
    left_out = int(count.replace(",", ""))
    assert left_out in {len(whole) - len(beginning) - len(end) + extra for extra in (0, 1)}


def read_file(path: str) -> bytes:
    return Path(path).read_bytes()


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_the_end_that_is_shown_live_is_of_whole_lines() -> None:
    window = OutputWindow(64)
    window.add(b"one\ntwo\n")
    assert window.show_end(8) == "one\ntwo\n"
    assert window.show_end(6) == "two\n"
    window.add(b"x" * 50 + "é".encode())
    assert window.show_end(5) == "xxxé"
    window.add(b"\n" + b"y" * 100 + b"\nthree\n")
    assert window.show_end(10) == "three\n"


# Holds: sandbox-42
async def test_of_a_long_output_the_whole_is_in_a_file_that_commands_read(mount: Any) -> None:
    tools = await mount(safety_profile="unrestricted", max_output_bytes=1024)
    result = await tools.run("seq 1000; printf '\\377€'")
    path = result.pop("output_file")
    whole = "".join(f"{number}\n" for number in range(1, 1001)).encode() + b"\xff\xe2\x82\xac"
    assert read_file(path) == whole
    left_out = len(whole) - 1024
    head, tail = whole[:512].decode(), whole[-512:].decode("utf-8", "replace")
    shown = f"{head}[… {left_out:,} bytes are left out here …]\n{tail}"
    assert result == {"output": shown, "exit_code": 0, "sandbox": "none"}
    assert (await tools.run(f"grep -ac . {path}"))["output"] == "1001\n"
    assert os.stat(path).st_mode & 0o777 == 0o600


# Holds: sandbox-42
async def test_a_file_is_bounded_and_says_so(mount: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output_file, "MAX_FILE_BYTES", 2**20)
    tools = await mount(safety_profile="unrestricted", max_output_bytes=1024)
    result = await tools.run("head -c 3000000 /dev/zero | tr '\\0' x")
    assert result["output_file_problem"] == "it has the first 1 MiB"
    assert read_file(result["output_file"]) == b"x" * 2**20
    assert result["exit_code"] == 0
    assert f"[… {3_000_000 - 1024:,} bytes" in result["output"]


# Holds: sandbox-43
async def test_a_full_disk_is_no_failure_of_a_command(
    mount: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(self: OutputFile, piece: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(OutputFile, "_write", write)
    tools = await mount(safety_profile="unrestricted", max_output_bytes=1024)
    result = await tools.run("seq 100000; exit 3")
    assert result["output"].startswith("1\n2\n")
    del result["output"]
    assert result == {
        "exit_code": 3,
        "sandbox": "none",
        "output_file_problem": "it ends after 0 bytes: No space left on device",
    }


def test_a_file_that_is_there_already_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to(tmp_path / "target")
    output = CapturedOutput(10, lambda: tmp_path / "out")
    output.add(b"x" * 11)
    assert output.take(is_over=True).file_problem == "it ends after 0 bytes: File exists"
    assert not (tmp_path / "target").exists()


# Holds: sandbox-43
async def test_a_command_that_writes_very_much_is_not_held_up(mount: Any) -> None:
    tools = await mount(safety_profile="unrestricted", max_output_bytes=1024)
    result = await tools.run("head -c 100000000 /dev/zero", timeout=60)
    assert result["output_file_problem"] == "it has the first 64 MiB"
    assert os.stat(result["output_file"]).st_size == 64 * 2**20
