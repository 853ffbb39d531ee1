"""Calls a tool in a folder that holds a lot of one kind, and prints by how much the memory grew.

Arguments: the kind, the tool and an empty folder.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import anyio

from amplifier_guard import PathPolicy
from amplifier_modules.tools import filesystem, search

MANY = 100_000
LONG = "n" * 200


def peak() -> int:
    """The most memory that this program ever had."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return int(fields["VmHWM"].removesuffix("kB")) * 1024


def plant(kind: str, folder: Path) -> None:
    """Fill the folder, and make the file `file` that `read_file` reads."""
    (folder / "file").write_bytes(b"x\n")
    match kind:
        case "files":
            for number in range(MANY):
                (folder / f"{LONG}{number}").touch()
        case "endings":
            for number in range(MANY):
                (folder / f"{number}.{LONG}{number}").touch()
        case "directories":
            for number in range(MANY):
                (folder / f"{LONG}{number}").mkdir()
        case "deep":
            place = os.open(folder, os.O_RDONLY)
            for _ in range(2000):
                for name in (LONG, "beside"):
                    os.mkdir(name, dir_fd=place)
                os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=place))
                inner = os.open(LONG, os.O_RDONLY, dir_fd=place)
                os.close(place)
                place = inner
            os.close(place)
        case "line":
            with (folder / "file").open("wb") as file:
                for _ in range(1000):
                    file.write(b"x" * 1_000_000)
        case "lines":
            with (folder / "file").open("wb") as file:
                for _ in range(100):
                    file.write(b"x\n" * 500_000)
        case "sparse":
            os.truncate(folder / "file", 1 << 40)
        case _:
            raise ValueError(kind)


def main(kind: str, name: str, place: str) -> None:
    """Print the growth of the most memory that the program had."""
    folder = Path(place)
    plant(kind, folder)
    policy = PathPolicy(folder)
    tool, arguments = {
        "glob": (search.Glob(policy), {"pattern": "**", "limit": 100_000}),
        "grep": (search.Grep(policy), {"pattern": "", "limit": 100_000}),
        "list_directory": (filesystem.ListDirectory(policy), {}),
        "read_file": (filesystem.ReadFile(policy), {"path": "file", "limit": 1_000_000}),
    }[name]

    async def call() -> Any:
        return await tool.execute(arguments)

    before = peak()
    result = anyio.run(call)
    assert len(result.get_serialized_output()) <= 256 * 1024
    print(peak() - before)


main(*sys.argv[1:])
