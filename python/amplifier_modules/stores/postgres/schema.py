"""The tables and functions of a schema, made and changed by versions."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from ..errors import NewerStoreError, RefusedStoreError, StoreError
from .address import Address
from .driver import asyncpg
from .failures import FAILED, describe_failure

TABLES = ("tables_1.sql",)
"""What makes each version of the one before."""
VERSION = len(TABLES)
"""The version of the tables and functions that this program uses."""

_FUNCTIONS = "writing.sql", "reading.sql"
_CONNECT_SECONDS = 10.0
_LOCK = 0x616D7063
"""Held by the one who changes a schema."""


async def migrate_schema(address: Address, schema: str, role: str | None = None) -> tuple[int, int]:
    """Make the tables, or change them to those of this version; return the versions before and now.

    Others may do so at the same time.

    Args:
        address: The database.
        schema: The schema.
        role: Who may use the tables from now on, without owning them; None for no change.

    Raises:
        StoreError: That is not possible, or a newer program has done so.
    """
    try:
        connection = await asyncpg.connect(
            address.dsn, timeout=_CONNECT_SECONDS, statement_cache_size=0
        )
        try:
            async with connection.transaction():
                return await _migrate(connection, address, schema, role)
        finally:
            await connection.close(timeout=_CONNECT_SECONDS)
    except FAILED as error:
        raise describe_failure(error, address, schema, _CONNECT_SECONDS) from error


def quote_name(name: str) -> str:
    """Return a name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


async def _migrate(
    connection: Any, address: Address, schema: str, role: str | None
) -> tuple[int, int]:
    await connection.execute(f"SELECT pg_advisory_xact_lock({_LOCK})")
    encoding = await connection.fetchval("SHOW server_encoding")
    if encoding != "UTF8":
        raise StoreError(f"`{address.name}` has the encoding `{encoding}` (must be `UTF8`)")
    name = quote_name(schema)
    # Not `IF NOT EXISTS`: that needs the right to make schemas also where there is one.
    if not await connection.fetchval("SELECT 1 FROM pg_namespace WHERE nspname = $1", schema):
        await connection.execute(f"CREATE SCHEMA {name}")
    table = f"{name}.version"
    if await connection.fetchval("SELECT to_regclass($1)::text", table) is None:
        await connection.execute(f"CREATE TABLE {table} (number integer NOT NULL)")
    before = await connection.fetchval(f"SELECT coalesce(max(number), 0) FROM {table}")
    if before > VERSION:
        raise NewerStoreError(f"{address.name}/{schema}", before, VERSION)
    if before < VERSION:
        for file in (*TABLES[before:], *_FUNCTIONS):
            await connection.execute(_read(file, name))
        await connection.execute(f"INSERT INTO {table} VALUES ({VERSION})")
    if role is not None:
        await _grant(connection, address, name, role)
    return before, VERSION


async def _grant(connection: Any, address: Address, name: str, role: str) -> None:
    if not await connection.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", role):
        raise RefusedStoreError(f"`{address.name}` has no role `{role}` (must be made first)")
    to = quote_name(role)
    rights = "SELECT, INSERT, UPDATE, DELETE"
    for statement in (
        f"GRANT USAGE ON SCHEMA {name} TO {to}",
        f"GRANT {rights} ON ALL TABLES IN SCHEMA {name} TO {to}",
        f"REVOKE INSERT, UPDATE, DELETE ON {name}.version FROM {to}",
        f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {name} TO {to}",
        # Of those that later versions make.
        f"ALTER DEFAULT PRIVILEGES IN SCHEMA {name} GRANT {rights} ON TABLES TO {to}",
        f"ALTER DEFAULT PRIVILEGES IN SCHEMA {name} GRANT USAGE ON SEQUENCES TO {to}",
    ):
        await connection.execute(statement)


def _read(file: str, name: str) -> str:
    return (
        files(__name__.rpartition(".")[0])
        .joinpath(file)
        .read_text(encoding="utf-8")
        .replace("{schema}", name)
    )
