"""The server of PostgreSQL that the tests of a run share."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import asyncpg
import pytest
from postgres_server import PASSWORD, PostgresServer, list_programs

from amplifier_modules.stores.postgres.address import Address
from amplifier_modules.stores.postgres.schema import migrate_schema

SERVICE = "service"


@dataclass
class Database:
    """A server whose database has the tables, and a role for the service that owns nothing."""

    server: PostgresServer

    @property
    def dsn(self) -> str:
        """The address for the service."""
        return self.server.make_dsn(user=SERVICE)

    def run(self, *statements: str) -> list[Any]:
        """Run statements as the superuser, whom no row-level security binds; return the last rows."""

        async def run_all() -> list[Any]:
            connection = await asyncpg.connect(self.server.make_dsn())
            try:
                *others, last = statements
                for each in others:
                    await connection.execute(each)
                return await connection.fetch(last)
            finally:
                await connection.close()

        return asyncio.run(run_all())


def make_database(server: PostgresServer) -> Database:
    """Make the tables and the role on a server that runs."""
    database = Database(server)
    database.run(f"CREATE ROLE {SERVICE} LOGIN PASSWORD '{PASSWORD}'")
    asyncio.run(migrate_schema(Address(server.make_dsn(), "test"), "amplifier", SERVICE))
    return database


def serve_database() -> Iterator[Database]:
    """A database on a server of its own."""
    programs = list_programs()
    if not programs:
        pytest.skip("no PostgreSQL is installed")
    server = PostgresServer(programs[-1] if len(programs) == 1 else programs[-2])
    try:
        server.start()
        yield make_database(server)
    finally:
        server.remove()
