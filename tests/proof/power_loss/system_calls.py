"""What a program asks the kernel to do with files, recorded by `strace`."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

_TRACED = (
    "open,openat,creat,close,lseek,write,pwrite64,writev,pwritev,pwritev2,truncate,ftruncate,"
    "fallocate,fsync,fdatasync,sync_file_range,link,linkat,unlink,unlinkat,rename,renameat,"
    "renameat2,mkdir,mkdirat,rmdir,symlink,symlinkat"
)
_LONGEST = 1 << 24
"""Bytes of a write that are recorded; more would be cut off."""

_LINE = re.compile(r"(\d+) +(.*)")
_CALL = re.compile(r"(\w+)\((.*)\) += (-?\d+)")
_RESUMED = re.compile(r"<\.\.\. \w+ resumed>,? ?(.*)")
_UNFINISHED = " <unfinished ...>"
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_NUMBER_OF_FILE = re.compile(r"(-?\d+|AT_FDCWD)(?:<.*>)?")


class SystemCall(NamedTuple):
    """A call that succeeded."""

    name: str
    arguments: list[Any]
    """Bytes for texts, ints for numbers and for files, else the text of `strace`."""
    result: int


def record(program: Path, arguments: Sequence[object], trace: Path) -> str:
    """Run a Python program; what it does with files is written to `trace`. Return what it prints."""
    watched = ["strace", "-f", "-y", "-xx", "--seccomp-bpf", f"-s{_LONGEST}"]
    watched += [f"--output={trace}", f"--trace={_TRACED}"]
    command = [*watched, sys.executable, str(program), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def read_calls(trace: Path) -> Iterator[SystemCall]:
    """Yield the calls in the order in which they ended."""
    begun: dict[str, str] = {}
    with trace.open() as lines:
        for line in lines:
            found = _LINE.match(line)
            if found is None:
                continue
            thread, text = found.groups()
            if text.endswith(_UNFINISHED):
                begun[thread] = text.removesuffix(_UNFINISHED)
                continue
            if (rest := _RESUMED.match(text)) is not None:
                text = begun.pop(thread) + rest[1]
            call = _CALL.match(text)
            if call is not None and (result := int(call[3])) >= 0:
                yield SystemCall(call[1], [_read(each) for each in call[2].split(", ")], result)


def _read(text: str) -> Any:
    if (found := _TEXT.fullmatch(text)) is not None:
        return bytes.fromhex(found[1].replace("\\x", ""))
    if (found := _NUMBER_OF_FILE.fullmatch(text)) is not None and found[1] != "AT_FDCWD":
        return int(found[1])
    return text
