"""asyncio without an import of ssl, which it needs for the first connection only."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from amplifier_app.late_imports.late_modules import import_late


def import_asyncio() -> None:
    """Import asyncio; a tenth of the time of a first prompt would go to TLS."""
    if "asyncio" in sys.modules or find_spec("_ssl") is None:  # a Python without TLS
        return
    import_late("ssl", "asyncio.sslproto")
    import asyncio

    setattr(asyncio, "sslproto", sys.modules["asyncio.sslproto"])  # noqa: B010 - as its import does
