"""What commands reach of the network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, cast

Network: TypeAlias = Literal["off", "on"] | tuple[str, ...]
"""Nothing, everything, or the hosts of these names, of which there may be none yet."""


def read_network(value: Any) -> Any:
    """Return what a setting says of the network: `off`, or names of hosts.

    Raises:
        ValueError: It is something else.
    """
    if value == "off":
        return value
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        names = tuple(cast("Sequence[Any]", value))
        if all(isinstance(each, str) and each for each in names):
            return names
    raise ValueError("must be `off` or a list of host names")
