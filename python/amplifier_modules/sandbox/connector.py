"""Sockets in the network of a session's commands, which this process may not enter itself."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Lock

from .command import LaunchError
from .launched import LaunchedCommand

_SECONDS = 20
"""How long a socket may take; the first one waits for the start of the process."""
_MAX_ANSWER_BYTES = 1024


class Connector:
    """A process in that network, restricted as commands are, that makes a socket when it is asked.

    It does nothing else: it connects nowhere, and reads nothing that a command could write. A socket
    stays in the network that it was made in, so that we connect and read. Commands cannot see the
    process, as each has a namespace of processes of its own, and what it is asked over has no name.
    """

    def __init__(self, launch: Callable[[int], LaunchedCommand]) -> None:
        """Start the process.

        Args:
            launch: Starts it with the file that it is asked over.

        Raises:
            LaunchError: It cannot be started.
        """
        self._asking = Lock()
        self._asked, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._asked.settimeout(_SECONDS)
        with theirs:
            try:
                self._launched = launch(theirs.fileno())
            except BaseException:
                self._asked.close()
                raise

    def make_socket(self, family: socket.AddressFamily) -> socket.socket:
        """Return a new socket of TCP that is not connected.

        Raises:
            LaunchError: The process has not started.
            OSError: There is none: the process has ended, or the family is not known there.
        """
        with self._asking:
            try:
                self._asked.send(bytes([family]))
                answer, files, _, _ = socket.recv_fds(self._asked, _MAX_ANSWER_BYTES, 1)
            except TimeoutError:
                # What comes later would be taken for the answer to the next one.
                self._asked.close()
                raise
            except (BrokenPipeError, ConnectionResetError):
                answer, files = b"", []
        if files:
            return socket.socket(fileno=files[0])
        if not answer:
            self._launched.wait()
        reason = answer.decode("utf-8", "replace")
        raise OSError(f"no socket in the sandbox: {reason or 'what makes them has ended'}")

    def close(self) -> None:
        """End the process, and wait until it has ended; what it has made stays open."""
        self._asked.close()
        self._launched.kill()
        with suppress(LaunchError):
            self._launched.wait()
