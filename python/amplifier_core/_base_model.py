"""The two bases of our models; both build their schema at first use, which keeps imports cheap."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class ClosedModel(BaseModel):
    """A model that drops unknown keys."""

    model_config = ConfigDict(allow_inf_nan=False, defer_build=True)


class OpenModel(BaseModel):
    """A model that keeps unknown keys and writes them after the declared ones."""

    model_config = ConfigDict(extra="allow", allow_inf_nan=False, defer_build=True)
