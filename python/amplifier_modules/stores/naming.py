"""What texts name stores: `sqlite`, `store-mine`, or the address of a database."""

from __future__ import annotations

from typing import Any

_DATABASES = "postgresql://", "postgres://"


def make_store_entry(text: str) -> dict[str, Any]:
    """Return the entry of a plan for the store that a text names."""
    if text.startswith(_DATABASES):
        return {"module": "store-postgres", "config": {"dsn": text}}
    return {"module": text if text.startswith("store-") else f"store-{text}"}
