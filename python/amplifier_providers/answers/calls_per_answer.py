"""How many tool calls one answer may have: a setting of loops and of providers."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field

USUAL_CALLS = 128
CallsPerAnswer: TypeAlias = Annotated[int, Field(ge=1, le=10_000)]
"""So many calls of an answer may run; further ones are refused."""
