"""A provider under the name that the configuration has for it."""

from __future__ import annotations

from typing import Any

from .layers.layer import Layer
from .step import Step


class NamedProvider(Layer):
    """A provider with another name.

    Args:
        beneath: The provider.
        name: The name.
    """

    def __init__(self, beneath: Step, name: str) -> None:
        super().__init__(beneath)
        self.name = name

    def __getattr__(self, name: str) -> Any:
        """Return what the provider says of itself beyond a step: its prices, its abilities."""
        if name == "beneath":  # of a copy that is being made
            raise AttributeError(name)
        return getattr(self.beneath, name)
