"""A provider whose model the configuration describes."""

from __future__ import annotations

from typing import Any

from .config.tables import ModelTable
from .layers.layer import Layer
from .step import Step


class ConfiguredProvider(Layer):
    """A provider that knows of its model what the configuration says.

    Args:
        beneath: The provider.
        known: What the configuration says of the model.
    """

    def __init__(self, beneath: Step, known: ModelTable) -> None:
        super().__init__(beneath)
        self._known = known

    @property
    def holds_to_schema(self) -> bool:
        """Whether the service holds its model to a schema."""
        is_usual: bool = getattr(self.beneath, "holds_to_schema", False)
        return is_usual and self._known.supports_structured_output is not False

    def get_model_info(self) -> Any:
        """Return what the model can do, a `ModelInfo` of the kernel; the configuration counts."""
        beneath: Any = self.beneath
        info = beneath.get_model_info()
        sizes = {
            "context_window": self._known.context_window,
            "max_output_tokens": self._known.max_output_tokens,
        }
        known_sizes = {key: tokens for key, tokens in sizes.items() if tokens is not None}
        return info.model_copy(
            update={**known_sizes, "capabilities": self._known.capabilities(info.capabilities)}
        )

    def __getattr__(self, name: str) -> Any:
        """Return what the provider says of itself beyond a step, such as its prices."""
        if name == "beneath":  # of a copy that is being made
            raise AttributeError(name)
        return getattr(self.beneath, name)
