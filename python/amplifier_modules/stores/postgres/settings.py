"""The settings of `store-postgres`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from amplifier_providers.settings import Env, Settings

DEFAULT_SCHEMA = "amplifier"
DEFAULT_TENANT = "default"


class PostgresSettings(Settings):
    """Where sessions are stored, and whose they are."""

    dsn: Annotated[str | None, Env("DATABASE_URL")] = Field(default=None, repr=False)
    """The database, such as `postgresql://name:password@host:5432/database?sslmode=verify-full`.
    What it leaves out comes from the variables of PostgreSQL, such as `PGPASSWORD`."""
    database_schema: str = Field(default=DEFAULT_SCHEMA, min_length=1, max_length=63)
    """The schema of the tables, which `amplifier-core store migrate` makes."""
    tenant: str = Field(default=DEFAULT_TENANT, min_length=1, max_length=255)
    """Whose sessions are read and written; those of others are out of reach."""
    connections: int = Field(default=8, ge=1)
    """How many connections a process has at most, beside the one that listens."""
    timeout: float = Field(default=10.0, gt=0)
    """Seconds until a call fails. A server that restarts meanwhile is connected again."""
