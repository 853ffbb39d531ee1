"""Amounts of US dollars that others report."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation


def read_dollars(value: object) -> Decimal | None:
    """Return a reported amount of US dollars; None if it is not known.

    Whatever is not a finite number from 0 on is not known: null, a bool, NaN, a negative number.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and amount >= 0 else None
