"""The values of a provider's config, each checked when it is read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from amplifier_core.llm_errors import ConfigurationError


class ConfigValues:
    """What a mount plan gives a provider; keys that are None count as absent.

    Args:
        module: Whose config it is, as errors name it.
        provider: The provider's name, as errors bear it.
        config: The provider's section of the mount plan.
        place: What stands before a key in errors.
    """

    def __init__(
        self, module: str, provider: str, config: Mapping[str, Any] | None, place: str = ""
    ) -> None:
        self.given = {key: value for key, value in (config or {}).items() if value is not None}
        self._module = module
        self._provider = provider
        self._place = place

    def inside(self, key: str, config: Mapping[str, Any]) -> ConfigValues:
        """Return the values of a mapping that stands under a key."""
        return ConfigValues(self._module, self._provider, config, f"{self._place}{key}.")

    def text(self, key: str, default: str) -> str:
        """Return a text."""
        value = self.given.get(key, default)
        if not isinstance(value, str):
            raise self.wrong(f"`{self._place}{key}` must be a text, found {type(value).__name__}")
        return value

    def integer(
        self, key: str, default: int, least: int | None = None, most: int | None = None
    ) -> int:
        """Return a whole number."""
        value = self.given.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.wrong(
                f"`{self._place}{key}` must be a whole number, found {type(value).__name__}"
            )
        if least is not None and value < least:
            raise self.wrong(f"`{self._place}{key}` is {value}, but must be at least {least}")
        if most is not None and value > most:
            raise self.wrong(f"`{self._place}{key}` is {value}, but must be at most {most}")
        return value

    def number(self, key: str, default: float, least: float, most: float = math.inf) -> float:
        """Return a finite number."""
        value = self.given.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(f"`{self._place}{key}` must be a number, found {type(value).__name__}")
        if not math.isfinite(value) or value < least:
            raise self.wrong(
                f"`{self._place}{key}` is {value}, but must be a finite number of at least {least}"
            )
        if value > most:
            raise self.wrong(f"`{self._place}{key}` is {value}, but must be at most {most:g}")
        return float(value)

    def switch(self, key: str, default: bool) -> bool:
        """Return true or false."""
        value = self.given.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(
                f"`{self._place}{key}` must be true or false, found {type(value).__name__}"
            )
        return value

    def wrong(self, message: str) -> ConfigurationError:
        """Make the error for a value that cannot work."""
        return ConfigurationError(f"{self._module}: {message}", provider=self._provider)
