"""`store-postgres` does what each store does.

Holds: postgres-1
"""

from __future__ import annotations

from pathlib import Path

import pytest
from postgres_fixture import Database

from amplifier_modules.stores.postgres import PostgresStore
from amplifier_testing import StoreKit

pytestmark = pytest.mark.xdist_group("postgres")


class TestPostgres(StoreKit):
    @pytest.fixture(autouse=True)
    def use_database(self, postgres: Database) -> None:
        self.dsn = postgres.dsn

    def store(self, place: Path) -> PostgresStore:
        return PostgresStore(dsn=self.dsn, tenant=str(place))
