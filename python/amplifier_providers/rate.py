"""Rate limits in configs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from .settings import Settings

if TYPE_CHECKING:
    from amplifier_guard import Rate


class RateSettings(Settings):
    """How many calls are allowed, in the form of `amplifier_guard.Rate`."""

    limit: Annotated[int, Field(ge=1)]
    """Calls in each period."""
    period: Annotated[float, Field(gt=0, strict=False)] = 60.0
    """Seconds."""
    burst: Annotated[int | None, Field(ge=1)] = None
    """Calls at once after a rest; without it, as many as in a period."""

    def rate(self) -> Rate:
        """Return the `Rate`."""
        # Imported here, so that a module can be mounted without the extension.
        from amplifier_guard import Rate

        return Rate(self.limit, self.period, self.burst)
