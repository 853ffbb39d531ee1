"""`store-sqlite` does what each store does, in both modes of SQLite's journal.

Holds: store-6, store-7, store-9, store-16, store-17
"""

from __future__ import annotations

from pathlib import Path

from amplifier_modules.stores.sqlite import SqliteStore
from amplifier_testing import StoreKit


class TestPersist(StoreKit):
    def store(self, place: Path) -> SqliteStore:
        return SqliteStore(folder=str(place / "sessions"), journal_mode="persist")


class TestWal(StoreKit):
    def store(self, place: Path) -> SqliteStore:
        return SqliteStore(folder=str(place / "sessions"), journal_mode="wal")
