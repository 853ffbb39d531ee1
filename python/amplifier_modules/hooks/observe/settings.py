"""The config of `hooks-observe`, checked once at mount."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from amplifier_core.llm_errors import ConfigurationError

DEVELOPMENT = "AMPLIFIER_DEVELOPMENT"
"""The variable that turns development mode on where the config says nothing: `1`, `true`, `on`."""


class ObserveSettings(BaseModel):
    """What is observed, and how much of it is kept."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    development: bool = False
    """Whether the blocks of each message are inspected and logged, without their secrets."""
    opentelemetry: bool | None = None
    """Whether spans and metrics are made; None for where `opentelemetry-api` is installed."""
    rust: Literal["off", "error", "warning", "info", "debug", "trace"] = "off"
    """The level from which the decisions of the Rust code are logged; for the whole process."""
    most_traces: Annotated[int, Field(ge=1, le=100_000)] = 256
    """The most tool calls, and the most error contexts, that are kept."""
    most_labels: Annotated[int, Field(ge=1, le=10_000)] = 64
    """The most tools, models, types of blocks and types of errors told apart, each."""


def read_settings(config: Mapping[str, Any] | None) -> ObserveSettings:
    """Return the settings of a config.

    Raises:
        ConfigurationError: A key is not known, or a value is no use.
    """
    config = dict(config or {})
    if config.get("development") is None:
        config["development"] = os.environ.get(DEVELOPMENT, "").lower() in {"1", "true", "on"}
    try:
        return ObserveSettings.model_validate(config)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        message = f"`{place}` of the config of `hooks-observe`: {first['msg']}"
        raise ConfigurationError(message) from None
