"""A budget in the config of a module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from .budget import Budget


def budget_of(given: Any) -> Any:
    """Return the budget that a mapping describes, and anything else as it is.

    Raises:
        ValueError: The mapping is none of a budget.
    """
    if not isinstance(given, Mapping):
        return given
    try:
        return Budget.of_config(cast("Mapping[str, Any]", given))
    except TypeError as error:
        raise ValueError(str(error)) from error
