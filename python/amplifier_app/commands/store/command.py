"""The command line of `amplifier-core store`."""

from __future__ import annotations

import click

from amplifier_app.commands.ordered_group import OrderedGroup

_EXAMPLES = """\
\b
Examples:
  export DATABASE_URL=postgresql://admin@db.example/agents
  amplifier-core store migrate --role agents_service
"""


@click.group(cls=OrderedGroup, epilog=_EXAMPLES, invoke_without_command=True)
@click.pass_context
def store(context: click.Context) -> None:
    """Prepare a database of PostgreSQL for the sessions of many machines."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@store.command("migrate")
@click.option(
    "--dsn",
    metavar="ADDRESS",
    help="The database.  [default: DATABASE_URL, which hides a password from other users]",
)
@click.option(
    "--schema",
    metavar="NAME",
    help="The schema of the tables, which is made.  [default: amplifier]",
)
@click.option("--role", metavar="NAME", help="A role that uses the tables and does not own them.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def migrate(dsn: str | None, schema: str | None, role: str | None, as_json: bool) -> int:
    """Make the tables for sessions, or change those of an older version.

    Others may do the same at the same time. Tables of a newer version are left as they are.
    """
    from amplifier_app.commands.report import Report

    def run(report: Report) -> None:
        from amplifier_app.commands.store.migrate import migrate_store

        migrate_store(report, dsn, schema, role)

    return Report(as_json=as_json).run_command(run)
