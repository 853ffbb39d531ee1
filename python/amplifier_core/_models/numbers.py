"""The number types that the Rust and the Python models share."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer

Integer = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]
"""A signed 64-bit integer, which is what Rust holds."""


def _refuse_float(value: Any) -> Any:
    if isinstance(value, float):
        message = (
            f"cost_usd must be Decimal, not float (found {value!r}): "
            f"floats lose money, write Decimal('{value!r}')"
        )
        raise ValueError(message)  # noqa: TRY004 -- pydantic reports a ValueError
    return value


def _as_text(value: Any) -> str | None:
    return None if value is None else str(value)


Cost = Annotated[
    Decimal | None,
    BeforeValidator(_refuse_float, json_schema_input_type=int | str | None),
    PlainSerializer(_as_text, return_type=str | None),
]
"""US dollars, exact: `int`, `str` or `Decimal` in, text out in every dump; None is "not known"."""
