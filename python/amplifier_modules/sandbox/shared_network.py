"""The network that all commands of a session have in common, and the hosts that they reach from it."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from weakref import finalize

from .launched import LaunchedCommand
from .network.refusals import Refusals
from .network.rules import HostRules
from .proxy import HostProxy, proxy_environment


class SharedNetwork:
    """Two namespaces, of users and network, which end with the last command in them."""

    def __init__(self, launch: Callable[[], LaunchedCommand], rules: HostRules | None) -> None:
        """Describe it; it is made when it is first needed.

        Args:
            launch: Starts a command that makes the namespaces and does nothing else.
            rules: Which hosts are reached; None for none.
        """
        self._launch = launch
        self._rules = rules
        self._opening = Lock()
        self._files: list[int] = []
        self._proxy: HostProxy | None = None
        self.environment: Mapping[str, str] = {}
        """What leads programs to the hosts that are reached, once it is made."""

    def join(self) -> Sequence[int]:
        """Return the files of the namespaces, for a launcher.

        Raises:
            LaunchError: They cannot be made.
        """
        with self._opening:
            if not self._files:
                self._open()
            return self._files

    def watch_refusals(self) -> Refusals | None:
        """Return what takes the hosts that are refused from now on; None where none are reached."""
        with self._opening:
            return None if self._proxy is None else self._proxy.watch_refusals()

    def close(self) -> None:
        """Leave the namespaces, and end all connections out of them."""
        with self._opening:
            self._close_files()
            self._files = []
            if self._proxy is not None:
                self._proxy.close()
                self._proxy = None

    def _open(self) -> None:
        first = self._launch()
        try:
            first.wait()
            *files, number = first.files
        except BaseException:
            _close_all(first.files)
            raise
        self._files = files
        # A session that is dropped leaves them, too.
        self._close_files = finalize(self, _close_all, files)
        listener = socket.socket(fileno=number)
        if self._rules is None:
            listener.close()
            return
        self.environment = proxy_environment(listener.getsockname()[1])
        self._proxy = HostProxy(listener, self._rules)
        finalize(self, self._proxy.end)

    @staticmethod
    def _close_files() -> None:
        """Nothing is open yet."""


def _close_all(files: Sequence[int]) -> None:
    for each in files:
        os.close(each)
