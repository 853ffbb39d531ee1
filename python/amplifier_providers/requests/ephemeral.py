"""What is added to one request alone, and so stands behind all that the next request repeats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EPHEMERAL = "ephemeral"
"""Key in the metadata of a message: it, or the end of it, is of this request alone."""


def is_ephemeral(metadata: Any) -> bool:
    """Whether the metadata of a message says that the next request does not have it."""
    return isinstance(metadata, Mapping) and metadata.get(EPHEMERAL) is True  # pyright: ignore[reportUnknownMemberType] -- of any message
