"""What the tables of the configuration hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, PrivateAttr, model_validator

from amplifier_providers.prices.settings import Dollars
from amplifier_providers.settings import Settings
from amplifier_providers.value_problems import Form

_PRICES = {
    "input": "cost_input_per_1m",
    "output": "cost_output_per_1m",
    "cache_read": "cost_cache_read_per_1m",
    "cache_write": "cost_cache_write_per_1m",
}


class ModelTable(Settings):
    """What is known of a model."""

    context_window: Annotated[int | None, Field(ge=1)] = None
    """Tokens that it reads."""
    max_output_tokens: Annotated[int | None, Field(ge=1)] = None
    """Tokens that it writes at most."""
    supports_tools: bool | None = None
    """Whether it calls tools."""
    supports_vision: bool | None = None
    """Whether it sees images."""
    supports_thinking: bool | None = None
    """Whether it thinks before it answers."""
    supports_structured_output: bool | None = None
    """Whether its service holds it to a schema."""
    input_modalities: list[str] | None = None
    """What it reads: `text`, `image`, …"""
    cost_input_per_1m: Dollars | None = None
    """US dollars for a million tokens that it reads."""
    cost_output_per_1m: Dollars | None = None
    """The same for tokens that it writes."""
    cost_cache_read_per_1m: Dollars | None = None
    """The same for tokens from the cache; as for those that it reads if not set."""
    cost_cache_write_per_1m: Dollars | None = None
    """The same for tokens written to the cache; as for those that it reads if not set."""

    @model_validator(mode="after")
    def _is_priced_whole(self) -> Self:
        costs = [getattr(self, key) for key in _PRICES.values()]
        if any(cost is not None for cost in costs) and None in costs[:2]:
            raise ValueError(
                "must have `cost_input_per_1m` and `cost_output_per_1m`, or no cost at all"
            )
        return self

    @property
    def prices(self) -> dict[str, Any] | None:
        """The costs, as the settings of providers have them; None if there are none."""
        costs = {name: getattr(self, key) for name, key in _PRICES.items()}
        given = {name: cost for name, cost in costs.items() if cost is not None}
        return given or None

    def capabilities(self, usual: Sequence[str]) -> list[str]:
        """Return what the model can do.

        Args:
            usual: What it can do as far as the table does not say.
        """
        sees = self.supports_vision
        if sees is None and self.input_modalities is not None:
            sees = "image" in self.input_modalities
        capabilities = {
            "tools": self.supports_tools,
            "vision": sees,
            "thinking": self.supports_thinking,
            "structured_output": self.supports_structured_output,
        }
        kept = [name for name in usual if capabilities.get(name) is not False]
        return kept + [name for name, can in capabilities.items() if can and name not in kept]


class ProviderTable(Settings):
    """How a provider is called."""

    api_format: str | None = None
    """The provider whose API it speaks; its own name if not set."""
    base_url: str | None = None
    """The address of its API."""
    api_key_env: Annotated[
        str | None, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$"), Form("the name of a variable")
    ] = None
    """The variable of the environment with its key."""
    api_key_required: bool = True
    """Whether it is an error to have no key."""
    vault_path: Annotated[str | None, Field(min_length=1), Form("text, not empty")] = None
    """Where its key is in the vault, which goes before the environment."""
    default_model: Annotated[str | None, Field(min_length=1), Form("text, not empty")] = None
    """The model if the program names none."""
    default_temperature: float | None = Field(default=None, ge=0)
    """The temperature of calls that set none."""
    settings: dict[str, Any] = Field(default_factory=dict[str, Any])
    """What else the provider takes, such as `timeout`."""
    models: dict[str, ModelTable] = Field(default_factory=dict[str, ModelTable])
    """What is known of its models, by their names."""


class VaultTable(Settings):
    """Where keys are kept."""

    backend: Annotated[
        str | None,
        Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*$"),
        Form("`module:Class`"),
    ] = None
    """The class that reads the vault, as `module:Class`."""
    cache_ttl_seconds: float = Field(default=300.0, ge=0)
    """Seconds for which a key is kept in memory."""
    settings: dict[str, Any] = Field(default_factory=dict[str, Any])
    """The arguments of the class, by their names."""


class DefaultsTable(Settings):
    """What holds for all providers that say nothing else."""

    model: Annotated[str | None, Field(min_length=1), Form("`provider:model`")] = None
    """The model of the command, as `provider:model`."""
    temperature: float | None = Field(default=None, ge=0)
    """The temperature of calls that set none."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Tokens of the longest answer."""
    timeout: float | None = Field(default=None, ge=0.001)
    """Seconds to wait for the next byte of an answer."""


class GlobalConfig(Settings):
    """The whole configuration."""

    defaults: DefaultsTable = Field(default_factory=DefaultsTable)
    vault: VaultTable = Field(default_factory=VaultTable)
    modules: dict[str, dict[str, Any]] = Field(default_factory=dict[str, dict[str, Any]])
    """The settings of layers, by their names; `enabled` switches one on."""
    providers: dict[str, ProviderTable] = Field(default_factory=dict[str, ProviderTable])
    """How providers are called, by their names."""
    _path: Path | None = PrivateAttr(default=None)

    @property
    def path(self) -> Path | None:
        """The file that it was read from; None if there is none."""
        return self._path

    def read_from(self, path: Path) -> Self:
        """Return the same, with the file that it was read from."""
        copy = self.model_copy()
        copy._path = path
        return copy
