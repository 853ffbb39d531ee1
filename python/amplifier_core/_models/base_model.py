"""The two bases of our models; both build their schema at first use, which keeps imports cheap."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module, metadata
from typing import Any

from pydantic import BaseModel, ConfigDict


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
