"""What the database and the way to it say, as errors of a store."""

from __future__ import annotations

import ssl

from ..errors import (
    MissingSchemaError,
    RefusedStoreError,
    StoreError,
    UnreachableStoreError,
)
from .address import Address
from .driver import asyncpg

LOST: tuple[type[BaseException], ...] = (
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
    asyncpg.DeadlockDetectedError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    ConnectionError,
)
"""What is raised where a connection was lost, or the server starts: the call is made again."""

FAILED: tuple[type[BaseException], ...] = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
)
"""Whatever can go wrong between a program and a database."""

_REFUSED: tuple[type[BaseException], ...] = (
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
)
_NO_SCHEMA: tuple[type[BaseException], ...] = (
    asyncpg.UndefinedTableError,
    asyncpg.UndefinedFunctionError,
    asyncpg.InvalidSchemaNameError,
)
_MIGRATE = "run `amplifier-core store migrate`"


def describe_failure(
    error: BaseException, address: Address, schema: str, seconds: float
) -> StoreError:
    """Return the error of a store that says what went wrong, in one line and without a password."""
    place = address.name
    text = address.hide_password(" ".join((read_message(error) or type(error).__name__).split()))
    if isinstance(error, StoreError):
        return error
    if isinstance(error, _REFUSED):
        return RefusedStoreError(f"`{place}` refuses the connection: {text}")
    if isinstance(error, _NO_SCHEMA):
        return MissingSchemaError(f"`{place}` has no schema `{schema}` for sessions: {_MIGRATE}")
    if isinstance(error, asyncpg.InsufficientPrivilegeError):
        return StoreError(
            f"schema `{schema}` in `{place}` cannot be used: {text};"
            " `amplifier-core store migrate --role NAME` lets a role use it"
        )
    if isinstance(error, TimeoutError):
        return UnreachableStoreError(f"`{place}` did not answer within {seconds:g} s")
    if isinstance(error, FileNotFoundError):
        text = f"{text} (its socket, or a file that the address names, such as `sslrootcert`)"
    if isinstance(error, (ssl.SSLError, *LOST, OSError)):
        return UnreachableStoreError(f"cannot connect to `{place}`: {text}")
    return StoreError(f"the sessions cannot be stored in or read from `{place}`: {text}")


def read_message(error: BaseException) -> str:
    """Return what an error says, without the details that servers add in further lines."""
    if isinstance(error, asyncpg.PostgresError):
        return str(error.args[0]) if error.args else ""
    if isinstance(error, OSError) and error.strerror and error.errno and not error.filename:
        return error.strerror
    return str(error)
