"""A file in which processes share what is left of the rate limits of their endpoints."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, TypeAdapter

from .endpoint import MAX_LIMITS, KnownLimit, newest_of
from .shared_file import SharedFile

_Finite = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]
_State = dict[str, dict[str, tuple[_Finite, _Finite, _Finite, _Finite]]]
_STATE: TypeAdapter[_State] = TypeAdapter(_State)
_MAX_AHEAD_SECONDS = 86_400.0


class RateFile:
    """What is found in the file is believed if it is neither old nor of the future."""

    def __init__(self, path: str) -> None:
        """Use the file at `path`, which need not exist."""
        self._file = SharedFile(path, "rate limits are not shared")

    def read(self, endpoint: str, now: float) -> dict[str, KnownLimit]:
        """Return what is left of the limits of an endpoint; nothing if that is not known."""
        return _plausible_limits(_read_state(self._file.read()).get(endpoint, {}), now)

    def write(self, endpoint: str, limits: dict[str, KnownLimit], now: float) -> None:
        """Add what is left of the limits of an endpoint; of each limit the newest is kept."""

        def merge_limits(content: bytes) -> bytes:
            known = {
                name: _plausible_limits(each, now) for name, each in _read_state(content).items()
            }
            known[endpoint] = newest_of(known.get(endpoint, {}), limits)
            return _STATE.dump_json(
                {
                    name: {
                        kind: (each.limit, each.remaining, each.reset, each.noted)
                        for kind, each in found.items()
                    }
                    for name, found in known.items()
                    if found
                }
            )

        self._file.change(merge_limits)


def _read_state(content: bytes) -> _State:
    """Return what a file says; nothing if it has another form."""
    try:
        return _STATE.validate_json(content)
    except ValueError:
        return {}


def _plausible_limits(
    found: dict[str, tuple[float, float, float, float]], now: float
) -> dict[str, KnownLimit]:
    """Return the limits that are not whole again yet, without what cannot be."""
    limits = {kind: KnownLimit(*values) for kind, values in list(found.items())[:MAX_LIMITS]}
    return {
        kind: limit
        for kind, limit in limits.items()
        if limit.noted <= now < limit.reset <= now + _MAX_AHEAD_SECONDS
    }
