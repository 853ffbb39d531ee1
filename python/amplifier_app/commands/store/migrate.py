"""`amplifier-core store migrate`: the tables for sessions in a database."""

from __future__ import annotations

import asyncio

from amplifier_app.commands.report import Report
from amplifier_app.sessions.opening import reporting_store_errors


def migrate_store(report: Report, dsn: str | None, schema: str | None, role: str | None) -> None:
    """Make the tables, or change them, and write what was done.

    Args:
        report: Where that is written.
        dsn: The database; None for that of `DATABASE_URL`.
        schema: The schema of the tables; None for the usual one.
        role: Who may use them from now on.

    Raises:
        Failure: That is not possible.
    """
    from amplifier_modules.stores.postgres import PostgresStore

    with reporting_store_errors():
        store = PostgresStore(dsn=dsn, database_schema=schema)
        before, now = asyncio.run(store.migrate(role))
    name, place = store.settings.database_schema, store.place
    if before == now:
        done = f"schema `{name}` in `{place}` has version {now} already"
    elif before:
        done = f"schema `{name}` in `{place}` has version {now} now (before: {before})"
    else:
        done = f"schema `{name}` in `{place}` is made, with version {now}"
    if report.as_json:
        report.write_data({"place": place, "schema": name, "before": before, "version": now})
    else:
        report.write_lines([done, *([f"role `{role}` may use it"] if role else [])])
