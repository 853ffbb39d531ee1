"""The settings of `hooks-observe`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from amplifier_providers.settings import Env, Settings


def _is_on(text: str) -> bool:
    return text.lower() in {"1", "true", "on"}


class ObserveSettings(Settings):
    """What is observed, and how much of it is kept."""

    model_config = ConfigDict(strict=False)
    none_is_absent = False

    development: Annotated[bool, Env("AMPLIFIER_DEVELOPMENT", _is_on)] = False
    """Whether the blocks of each message are inspected and logged, without their secrets."""
    opentelemetry: bool | None = None
    """Whether spans and metrics are made; if not set, where `opentelemetry-api` is installed."""
    rust: Literal["off", "error", "warning", "info", "debug", "trace"] = "off"
    """Level from which the decisions of the Rust code are logged, for the whole process."""
    most_traces: int = Field(default=256, ge=1, le=100_000)
    """Tool calls, and error contexts, that are kept, at most."""
    most_labels: int = Field(default=64, ge=1, le=10_000)
    """The most tools, models, types of blocks and types of errors that are distinguished, each."""
