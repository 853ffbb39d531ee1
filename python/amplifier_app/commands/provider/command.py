"""`amplifier-core provider`: which providers there are, what they offer, and whether they answer."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

from amplifier_app.commands.ordered_group import OrderedGroup

_EXAMPLES = """\
\b
Examples:
  amplifier-core provider list
  amplifier-core provider key set openai
  amplifier-core provider models openai
  amplifier-core provider test openai:gpt-5.5
  amplifier-core --model openai:gpt-5.5 "Give me a tour of this project"
"""


@click.group(cls=OrderedGroup, epilog=_EXAMPLES, invoke_without_command=True)
@click.pass_context
def provider(context: click.Context) -> None:
    """List and test model providers, and keep their keys.

    A key comes from an environment variable, or else from the keyring of the system. It is never an
    argument, and it is never shown.
    """
    _help_without_command(context)


def _as_json(command: Callable[..., Any]) -> Callable[..., Any]:
    text = "Write one JSON object, also for a failure."
    return click.option("--json", "as_json", is_flag=True, help=text)(command)


def _check_seconds(_: click.Context, __: click.Parameter, seconds: float) -> float:
    if not 0.001 <= seconds <= 86_400:
        raise click.BadParameter(f"{seconds:g} s (must be 0.001 to 86,400)")
    return seconds


def _add_asking_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of commands that ask a service."""
    for option in (
        click.option("--debug", is_flag=True, help="Write a log, and tracebacks for errors."),
        click.option(
            "--timeout",
            type=float,
            default=30.0,
            callback=_check_seconds,
            metavar="SECONDS",
            help="How long the service may be silent.  [default: 30]",
        ),
        click.option(
            "--config",
            metavar="JSON",
            help='Settings of the provider, such as \'{"base_url": "…"}\'.',
        ),
        _as_json,
    ):
        command = option(command)
    return command


@provider.command("list", short_help="List the providers, and whether they have keys.")
@_as_json
def list_providers(as_json: bool) -> int:
    """List the providers, where their keys are looked for, and whether there is one."""
    from amplifier_app.commands.provider.list import provider_list
    from amplifier_app.commands.report import Report

    return Report(as_json=as_json).run_command(provider_list)


@provider.command("models")
@click.argument("name")
@_add_asking_options
def models(name: str, as_json: bool, config: str | None, timeout: float, debug: bool) -> int:
    """List the models that the service of a provider names.

    NAME is that of a provider, such as `openai`. Sizes are in tokens.
    """
    _set_debug(debug)
    from amplifier_app.commands.provider.models import listed_models
    from amplifier_app.commands.report import Report

    return Report(as_json=as_json, provider=name).run_command(
        lambda report: listed_models(report, name, config, timeout)
    )


@provider.command("test", short_help="Ask a model once, and measure that.")
@click.argument("name", metavar="NAME[:MODEL]")
@_add_asking_options
def test(name: str, as_json: bool, config: str | None, timeout: float, debug: bool) -> int:
    """Ask a model to count to twenty, and say how fast it was and what it cost.

    NAME is that of a provider, such as `openai` or `groq:MODEL`. The call uses a few dozen tokens.
    """
    _set_debug(debug)
    from amplifier_app.commands.provider.trial import try_model
    from amplifier_app.commands.report import Report

    return Report(as_json=as_json, provider=name.partition(":")[0]).run_command(
        lambda report: try_model(report, name, config, timeout)
    )


@provider.group(cls=OrderedGroup, invoke_without_command=True)
@click.pass_context
def key(context: click.Context) -> None:
    """Keep the key of a provider in the system keyring.

    This needs `pip install 'amplifier-core[keyring]'`. A variable of the environment goes before the
    keyring.
    """
    _help_without_command(context)


@key.command("set")
@click.argument("name")
@click.argument("surplus", nargs=-1, metavar="")
def set_key(name: str, surplus: tuple[str, ...]) -> int:
    """Keep a key, in the place of the one that is there.

    It is typed without being shown, or read from standard input:

        amplifier-core provider key set openai < key.txt
    """
    from amplifier_app.commands.provider.key_entry import keep_key
    from amplifier_app.commands.report import Report

    return Report().run_command(lambda report: keep_key(report, name, surplus))


@key.command("remove")
@click.argument("name")
@click.argument("surplus", nargs=-1, metavar="")
def remove_key(name: str, surplus: tuple[str, ...]) -> int:
    """Remove a key from the keyring."""
    from amplifier_app.commands.provider.key_entry import remove_key
    from amplifier_app.commands.report import Report

    return Report().run_command(lambda report: remove_key(report, name, surplus))


def _set_debug(debug: bool) -> None:
    if debug:
        os.environ["AMPLIFIER_DEBUG"] = "1"


def _help_without_command(context: click.Context) -> None:
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
