"""The command line of `amplifier-core queue`."""

from __future__ import annotations

import click

from amplifier_app.commands.session.command import add_place_options, run_reporting


@click.command("queue")
@click.argument("name", metavar="SESSION")
@click.argument("prompt", required=False)
@add_place_options
def queue(name: str, prompt: str | None, directory: str, place: str | None, debug: bool) -> int:
    """Send a prompt to a session: its next turn, in the process that has it open or a later one.

    PROMPT is the question or task; text that is piped in is added to it.
    """
    from amplifier_app.commands.prompt import given_prompt
    from amplifier_app.commands.session.running import queue_prompt

    return run_reporting(
        lambda report, folder, entry: queue_prompt(
            report, name, given_prompt(prompt).text, folder, entry
        ),
        directory,
        place,
        debug,
    )
