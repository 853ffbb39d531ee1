"""Connections to services: shared in an event loop, kept between sessions, closed with the loop."""

from __future__ import annotations

from .pools import close_connections

__all__ = ["close_connections"]
