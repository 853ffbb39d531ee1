"""An amount of money, as a person reads it."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

_CENT, _SMALLEST = Decimal("0.01"), Decimal("0.0001")
_ROUNDING = Context(prec=50, rounding=ROUND_HALF_UP)


def dollars(amount: Decimal) -> str:
    """`$0.0042`, `$1.37`, `$0`; what is less than it can show is `<$0.0001`."""
    if not amount:
        return "$0"
    if amount < _SMALLEST:
        return f"<${_SMALLEST}"
    return f"${amount.quantize(_CENT if amount >= 1 else _SMALLEST, context=_ROUNDING):,f}"
