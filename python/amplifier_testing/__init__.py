"""For the tests of people who write modules.

`servers` has strict servers of the provider dialects, `ProviderKit` the tests of a provider, and
`StoreKit` those of a store of sessions.
The kits need pytest, the servers do not: they are imported at their first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .kit import KitClock, KitHooks, ProviderKit, StoreKit

__all__ = ["KitClock", "KitHooks", "ProviderKit", "StoreKit"]


def __getattr__(name: str) -> object:
    """Import a name of the kit."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import kit

    return getattr(kit, name)
