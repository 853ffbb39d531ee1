"""Hosts that somebody is asked about while a connection waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from amplifier_guard import UrlDenied, UrlPolicy

from .rules import Allowed, Decision, HostRules, Refused

AskAboutHost: TypeAlias = Callable[[str, int, Refused], Decision]
"""Decides on a host and a port that nothing allows yet, and may wait; called in any thread.

It is given what is to be answered where nobody can be asked.
"""


class HeldHosts:
    """The hosts that other rules allow, and the public ones that somebody agrees to."""

    def __init__(self, rules: HostRules, ask: AskAboutHost) -> None:
        """Decide by rules, and ask about what they refuse.

        Nobody is asked about names and addresses of this machine and of private networks; and a
        name that leads to one is refused, whatever was agreed, as its address is judged too.
        """
        self._rules = rules
        self._ask = ask

    def decide(self, host: str, port: int) -> Decision:
        """Decide on a host, as `HostRules` says; waits for the answer."""
        decision = self._rules.decide(host, port)
        if isinstance(decision, Allowed) or not _is_public(host, port):
            return decision
        return self._ask(host, port, decision)


def _is_public(host: str, port: int) -> bool:
    shown = f"[{host}]" if ":" in host else host
    try:
        UrlPolicy(ports=[port]).destination(f"https://{shown}:{port}/")
    except UrlDenied:
        return False
    return True
