"""What people have said about hosts, for the rest of a session."""

from __future__ import annotations

from threading import Lock

from amplifier_modules.sandbox.network.rules import Decision


class AgreedHosts:
    """The answers about hosts and ports of one session; safe to use from several threads."""

    def __init__(self, around: AgreedHosts | None = None) -> None:
        """Know no answer.

        Args:
            around: Those of the session that this one works for, which count here, too; what is
                said here does not count there.
        """
        self._around = around
        self._decisions: dict[tuple[str, int], Decision] = {}
        self._lock = Lock()

    def find(self, host: str, port: int) -> Decision | None:
        """Return what was said about a host and a port; None for nothing."""
        with self._lock:
            found = self._decisions.get((host, port))
        if found is None and self._around is not None:
            return self._around.find(host, port)
        return found

    def note(self, host: str, port: int, decision: Decision) -> None:
        """Keep what a person has said."""
        with self._lock:
            self._decisions[host, port] = decision
