"""Commands in the namespaces of the system's bubblewrap start whatever sockets the machine has.

Holds: sandbox-96
"""

from __future__ import annotations

import shlex
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sandbox_world import World

from amplifier_modules.sandbox.bubblewrap import find_bubblewrap
from amplifier_modules.sandbox.command import Tier

CONNECT = """
import socket, sys
for path in sys.argv[1:]:
    try:
        socket.socket(socket.AF_UNIX).connect(path)
        print("met", path)
    except OSError:
        pass
print("end")
"""


@pytest.fixture
def wrapped(tmp_path: Path) -> World:
    bubblewrap = find_bubblewrap()
    if bubblewrap is None:
        pytest.skip("bubblewrap is not installed")
    return World(Tier.NAMESPACES, tmp_path, {"bubblewrap": bubblewrap})


@pytest.fixture
def listening() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def serve(listening: ExitStack, path: Path) -> str:
    server = listening.enter_context(socket.socket(socket.AF_UNIX))
    server.bind(str(path))
    server.listen()
    return str(path)


def test_no_socket_is_met_and_none_keeps_a_command_from_starting(
    wrapped: World, listening: ExitStack
) -> None:
    hidden, seen = wrapped.outside / "hidden", wrapped.project / "seen"
    for folder in (hidden, seen):
        folder.mkdir()
    (wrapped.outside / "link").symlink_to(seen)
    gone = wrapped.project / "gone"
    places = (
        hidden / "agent",
        seen / "plain",
        wrapped.outside / "link" / "linked",
        wrapped.outside / "beside",
        gone,
    )
    paths = [serve(listening, path) for path in places]
    gone.unlink()
    program = [sys.executable, "-c", CONNECT, *paths, str(seen / "linked")]
    ran = wrapped.run(
        shlex.join(program),
        find_hidden=lambda: [str(hidden)],
        shown=[str(wrapped.folder)],
    )
    assert (ran.output, ran.ending.exit_code) == ("end\n", 0)


def test_what_is_hidden_in_a_hidden_folder_keeps_no_command_from_starting(wrapped: World) -> None:
    around = wrapped.outside / "state"
    (around / "changes").mkdir(parents=True)
    (around / "changes" / "kept").write_text("kept")
    (around / "key").write_text("secret")
    hidden = [str(around / "key"), str(around), str(around / "changes")]
    program = f"cat {shlex.quote(str(around))}/*/* {shlex.quote(str(around))}/key; echo end"
    ran = wrapped.run(program, find_hidden=lambda: hidden, shown=[str(wrapped.folder)])
    assert "kept" not in ran.output.replace("/*/*", "")
    assert "secret" not in ran.output
    assert ran.output.endswith("end\n")
