"""Which tier this machine has: found once, by starting a command in each."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from tempfile import TemporaryDirectory

from .bubblewrap import find_bubblewrap
from .command import Command, LaunchError, Tier
from .sandbox import Sandbox

_SECONDS = 20


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
