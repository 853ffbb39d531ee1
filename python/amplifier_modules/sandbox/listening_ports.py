"""At which ports a running command listens, as the system says from outside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_MAX_PROCESSES = 200
_MAX_FILES = 10_000
_MAX_PORTS = 20
_LISTENING = "0A"


def find_listening_ports(process: int) -> list[int]:
    """Return the ports of TCP at which a process or one that it began listens, the lowest first.

    It is a hint: there are none where the system has no `/proc`, or does not let us look.
    """
    sockets: set[str] = set()
    tables: dict[str, Path] = {}
    for each in _list_processes(process):
        # It may have ended.
        with suppress(OSError):
            tables.setdefault(os.readlink(each / "ns/net"), each / "net")
            sockets.update(_list_sockets(each / "fd", _MAX_FILES - len(sockets)))
    ports = {
        port
        for table in tables.values()
        for port, socket in _list_ports(table)
        if socket in sockets
    }
    return sorted(ports)[:_MAX_PORTS]


def _list_processes(process: int) -> Iterator[Path]:
    """Yield the folders of a process and of those that it began."""
    waiting = [str(process)]
    for _ in range(_MAX_PROCESSES):
        if not waiting:
            return
        folder = Path("/proc", waiting.pop(0))
        yield folder
        with suppress(OSError):
            for thread in (folder / "task").iterdir():
                waiting += (thread / "children").read_text().split()


def _list_sockets(files: Path, most: int) -> Iterator[str]:
    """Yield the numbers of the sockets that a process has open."""
    for _, file in zip(range(most), os.scandir(files), strict=False):
        with suppress(OSError):
            kind, _, rest = os.readlink(file.path).partition(":[")
            if kind == "socket":
                yield rest.removesuffix("]")


def _list_ports(table: Path) -> Iterator[tuple[int, str]]:
    """Yield the port and the number of each socket that listens in a network."""
    for name in ("tcp", "tcp6"):
        with suppress(OSError):
            for row in (table / name).read_text().splitlines()[1:]:
                _, local, _, state, _, _, _, _, _, socket, *_ = row.split()
                if state == _LISTENING:
                    yield int(local.rpartition(":")[2], 16), socket
