"""What the `mount` functions of providers over HTTP do the same way."""

from __future__ import annotations

import logging
from typing import Any

from amplifier_core._loading.load_report import explain

from ..retries import Retries
from .settings import HttpSettings

logger = logging.getLogger(__name__)


def say_not_mounted(module: str, reason: str) -> None:
    """Say once why a provider is not mounted: by the session that mounts it, or here."""
    if not explain(reason):
        logger.warning("%s is not mounted: %s", module, reason)


def hooks_and_retries(
    coordinator: Any, provider: str, settings: HttpSettings
) -> tuple[Any, Retries]:
    """Return the hooks of a coordinator, and retries that tell them and end with a cancellation."""
    hooks = getattr(coordinator, "hooks", None)
    cancellation = getattr(coordinator, "cancellation", None)
    return hooks, Retries(provider, settings, hooks, cancellation)
