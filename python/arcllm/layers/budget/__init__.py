"""What calls may cost: limits for a day and a month, kept across processes."""

from __future__ import annotations

from .errors import ArcLLMBudgetError, ArcLLMBudgetFileError
from .layer import BudgetLayer
from .settings import BudgetLimits, BudgetSettings

__all__ = [
    "ArcLLMBudgetError",
    "ArcLLMBudgetFileError",
    "BudgetLayer",
    "BudgetLimits",
    "BudgetSettings",
]
