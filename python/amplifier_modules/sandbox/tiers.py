"""Which tier this machine has: found once, by starting a command in each."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cache
from tempfile import TemporaryDirectory

from .command import Command, LaunchError, Tier
from .sandbox import Sandbox

_SECONDS = 20


@dataclass(frozen=True)
class FoundTier:
    """A tier, and why it is not a better one."""

    tier: Tier
    reasons: tuple[str, ...] = ()
    """What failed in the tiers above it."""


@cache
def find_tier() -> FoundTier:
    """Return the best tier in which a command can be started here."""
    if sys.platform != "linux":
        return FoundTier(Tier.NONE, (f"there is no sandbox for `{sys.platform}`",))
    reasons: list[str] = []
    for tier in (Tier.NAMESPACES, Tier.LANDLOCK):
        try:
            _try_tier(tier)
        except LaunchError as error:
            reasons.append(f"{tier}: {error}")
        else:
            return FoundTier(tier, tuple(reasons))
    return FoundTier(Tier.NONE, tuple(reasons))


def _try_tier(tier: Tier) -> None:
    """Start a command that does nothing.

    Raises:
        LaunchError: It does not start, or does not end well.
    """
    with TemporaryDirectory(prefix="amplifier-") as folder, open(os.devnull, "wb") as nowhere:
        sandbox = Sandbox(folder, folder, tier)
        try:
            ending = sandbox.start(Command(":", folder, {}, _SECONDS), nowhere.fileno()).wait()
        finally:
            sandbox.close()
    if ending.exit_code != 0:
        raise LaunchError(f"a command that does nothing ended with {ending}")
