"""The tests that every provider should pass, for those who write one."""

from __future__ import annotations

try:
    import pytest as pytest  # those below need it, and would only name it
except ImportError as error:
    raise ImportError("`ProviderKit` needs pytest: `pip install pytest`") from error

from .clock import KitClock
from .provider_kit import ProviderKit
from .recorder import KitHooks
from .store_kit import StoreKit

__all__ = ["KitClock", "KitHooks", "ProviderKit", "StoreKit"]
