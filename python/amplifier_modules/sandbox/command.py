"""A command in a sandbox: what is run, how it ended, and what runs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol, TypeAlias

Profile: TypeAlias = Literal["read-only", "project", "full"]
"""What commands may write: temporary files, the project too, or anything without a sandbox."""


class Tier(StrEnum):
    """What keeps commands to the project on this machine."""

    NAMESPACES = "namespaces"
    """Tier A: namespaces of their own, Landlock and seccomp."""
    LANDLOCK = "landlock"
    """Tier B: Landlock and seccomp."""
    SEATBELT = "seatbelt"
    """Tier S: Seatbelt, on macOS."""
    NONE = "none"
    """Tier C: nothing."""


@dataclass(frozen=True)
class Layer:
    """Where the changes of a command go, in the place of the project."""

    changes: str
    """An empty folder: files that are new or other than before, and marks of deleted ones."""
    work: str
    """An empty folder, for the kernel; both are in the file system of the project."""


@dataclass(frozen=True)
class Command:
    """One command for the shell."""

    text: str
    """What bash reads."""
    directory: str
    """Its working folder, an absolute path."""
    environment: Mapping[str, str]
    """All of its variables."""
    timeout: float | None = None
    """Seconds after which it and all that it began is ended, but for those of `hold_time`."""
    layer: Layer | None = None
    """What takes its changes of the project; None for the project itself."""


@dataclass(frozen=True)
class Ending:
    """How a command ended."""

    exit_code: int | None
    """None if a signal ended it."""
    signal: int | None = None
    """The number of the signal that ended it."""
    timed_out: bool = False
    directory: str | None = None
    """The shell's working folder at its end, links followed; None if the shell did not say."""
    removed: tuple[str, ...] = ()
    """Files that the sandbox removed, as they would have had programs outside run something."""
    refused: tuple[str, ...] = ()
    """Hosts that were not reached, and why, while it ran: by it, or by others of its session."""


@dataclass(frozen=True)
class AddedPlaces:
    """Further folders that commands use, asked before each; absolute paths, links followed."""

    find_shown: Callable[[], Sequence[str]] = tuple
    """Returns those that are read."""
    find_writable: Callable[[], Sequence[str]] = tuple
    """Returns those of them that are written, too."""


class LaunchError(OSError):
    """A command that could not be started."""


class ForwardError(OSError):
    """A port that cannot be forwarded."""


class Forward(Protocol):
    """A port of commands that is reached here, until it is closed."""

    port: int
    """The port of 127.0.0.1 where it is reached."""

    def is_answered(self) -> bool:
        """Whether something listens at the port of the commands now."""
        ...

    def close(self) -> None:
        """Close all connections and the port; waits for that, and does nothing once it is closed."""
        ...


class RunningCommand(Protocol):
    """A command that has begun; safe to use from several threads."""

    def wait(self) -> Ending:
        """Wait until the command and all that it began has ended.

        Raises:
            LaunchError: It could not be started after all.
        """
        ...

    def kill(self) -> None:
        """End the command and all that it began; returns at once, also where it has ended."""
        ...

    def hold_time(self) -> AbstractContextManager[None]:
        """Let no time pass for the command in a block, from one thread at a time; it runs on."""
        ...

    def list_ports(self) -> list[int]:
        """Return the ports at which it or what it began listens, as far as that is known."""
        ...


class CommandRunner(Protocol):
    """Starts the commands of one session."""

    @property
    def tier(self) -> Tier:
        """What keeps them to the project."""
        ...

    @property
    def takes_layers(self) -> bool:
        """Whether commands may have a layer, as far as the sandbox goes."""
        ...

    @property
    def reaches_hosts(self) -> bool:
        """Whether they reach any host."""
        ...

    def start(self, command: Command, output: int) -> RunningCommand:
        """Start a command without input.

        Args:
            command: What to run.
            output: The file descriptor that it and all that it begins write to, which stays the
                caller's to close.

        Raises:
            LaunchError: It cannot be started.
        """
        ...

    def check_forward(self, port: int) -> None:
        """Look whether a port that a command listens at can be forwarded.

        Raises:
            ForwardError: It cannot be reached from here, or is reached directly.
        """
        ...

    def forward_port(self, port: int) -> Forward:
        """Pass connections to a port of this machine on to one that a command listens at.

        Raises:
            ForwardError: As above; or none can be made.
        """
        ...

    def close(self) -> None:
        """Let go of what is kept for further commands; called once, after all have ended."""
        ...
