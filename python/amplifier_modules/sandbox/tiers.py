"""Which tier this machine has: found once, by starting a command in each."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from .bubblewrap import find_bubblewrap
from .command import Command, LaunchError, Tier
from .sandbox import Sandbox
from .seatbelt import SeatbeltRunner, find_nono

_SECONDS = 20
_TRIAL = """
echo > made || echo 'not write the project'
{{ echo > ../outside; }} 2> /dev/null && echo 'write outside of the project'
cat .env > /dev/null 2>&1 && echo 'read hidden files'
{{ echo > .git/hooks/made; }} 2> /dev/null && echo 'write hooks of git'
mv .git moved 2> /dev/null && echo 'move the folder of git'
{{ : < /dev/tcp/127.0.0.1/{port}; }} 2> /dev/null && echo 'reach the network'
:
"""
"""A line of its output for each thing that a command in a sandbox should not do."""


@dataclass(frozen=True)
class FoundTier:
    """A tier, what makes it, and why it is not a better one."""

    tier: Tier
    bubblewrap: str | None = None
    """The program that makes the namespaces, where we may not."""
    reasons: tuple[str, ...] = ()
    """What failed in the better ones."""


@cache
def find_tier() -> FoundTier:
    """Return the best tier in which a command can be started here."""
    if sys.platform == "darwin":
        return _find_on_macos()
    if sys.platform != "linux":
        return FoundTier(Tier.NONE, reasons=(f"there is no sandbox for `{sys.platform}` yet",))
    reasons: list[str] = []
    for name, tier, bubblewrap in _list_candidates():
        try:
            _try_tier(tier, bubblewrap)
        except LaunchError as error:
            reasons.append(f"{name}: {error}")
        else:
            return FoundTier(tier, bubblewrap, tuple(reasons))
    return FoundTier(Tier.NONE, reasons=tuple(reasons))


def _list_candidates() -> Iterator[tuple[str, Tier, str | None]]:
    yield "namespaces", Tier.NAMESPACES, None
    bubblewrap = find_bubblewrap()
    if bubblewrap is not None:
        yield "bubblewrap", Tier.NAMESPACES, bubblewrap
    yield "landlock", Tier.LANDLOCK, None


def _try_tier(tier: Tier, bubblewrap: str | None) -> None:
    """Start a command that does nothing.

    Raises:
        LaunchError: It does not start, or does not end well.
    """
    with TemporaryDirectory(prefix="amplifier-") as folder, open(os.devnull, "wb") as nowhere:
        sandbox = Sandbox(folder, folder, tier, bubblewrap=bubblewrap)
        try:
            ending = sandbox.start(Command(":", folder, {}, _SECONDS), nowhere.fileno()).wait()
        finally:
            sandbox.close()
    if ending.exit_code != 0:
        raise LaunchError(f"a command that does nothing ended with {ending}")


def _find_on_macos() -> FoundTier:
    if find_nono() is None:
        return FoundTier(Tier.NONE, reasons=("seatbelt: the package `nono-py` is not installed",))
    try:
        try_seatbelt()
    except LaunchError as error:
        return FoundTier(Tier.NONE, reasons=(f"seatbelt: {error}",))
    return FoundTier(Tier.SEATBELT)


def try_seatbelt() -> None:
    """Start a command that tries what it should not do.

    The rules are those of another package, which may change what it makes of them.

    Raises:
        LaunchError: It does not start, does not end well, or can do some of it.
    """
    with TemporaryDirectory(prefix="amplifier-") as folder:
        project, temporary = Path(folder, "project"), Path(folder, "temporary")
        (project / ".git" / "hooks").mkdir(parents=True)
        temporary.mkdir()
        secret = project / ".env"
        secret.touch()
        runner = SeatbeltRunner(str(project), str(temporary), find_hidden=lambda: [str(secret)])
        output = Path(folder, "output")
        with (
            closing(runner),
            socket.create_server(("127.0.0.1", 0)) as server,
            output.open("wb") as written,
        ):
            text = _TRIAL.format(port=server.getsockname()[1])
            environment = {"PATH": os.environ.get("PATH", os.defpath)}
            command = Command(text, str(project), environment, _SECONDS)
            ending = runner.start(command, written.fileno()).wait()
        faults = output.read_text(errors="replace").splitlines()
    if faults:
        raise LaunchError(f"a command in it can {', '.join(faults)}")
    if ending.exit_code != 0:
        raise LaunchError(f"a command that tries its edges ended with {ending}")
