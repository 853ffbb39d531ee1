"""What our models are made of: their bases, which build a schema at first use, and numbers as in Rust."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from importlib import import_module, metadata
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer


def _entry_points(**wanted: Any) -> metadata.EntryPoints:
    points = (point for one in metadata.distributions() for point in one.entry_points)
    return metadata.EntryPoints(points).select(**wanted)


def _settle_plugins() -> None:
    """Have Pydantic take hold of the function that lists its plugins, the real one.

    It does so when the first schema is built, and tests of modules put a function of their own in
    the place of `importlib.metadata.entry_points` by then.
    """
    found = metadata.entry_points
    if getattr(found, "__globals__", None) is not vars(metadata):
        metadata.entry_points = _entry_points
    try:
        with suppress(ImportError):
            import_module("pydantic.plugin._loader")
    finally:
        metadata.entry_points = found


_settle_plugins()


class ClosedModel(BaseModel):
    """A model that drops unknown keys."""

    model_config = ConfigDict(allow_inf_nan=False, defer_build=True)


class OpenModel(BaseModel):
    """A model that keeps unknown keys and writes them after the declared ones."""

    model_config = ConfigDict(extra="allow", allow_inf_nan=False, defer_build=True)


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
