"""What the HTTP status of a failed request means, from the one table of the engine."""

from __future__ import annotations

from amplifier_core._engine import status_kind, status_of_kind

__all__ = ["status_kind", "status_of_kind"]
