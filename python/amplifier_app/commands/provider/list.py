"""`amplifier-core provider list`: the providers, and where their keys are found."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from amplifier_app.columns import in_columns
from amplifier_app.commands.provider_choice import PROVIDERS, KnownProvider, default_provider
from amplifier_app.commands.provider_key import KEY_SET, stored_key
from amplifier_app.commands.report import Report
from amplifier_app.system_keyring import EXTRA, KEYRING

Place: TypeAlias = Literal["environment", "keyring", "missing", "optional", "none needed"]
"""Where the key of a provider is, or why there is none."""


@dataclass(frozen=True)
class KeyState:
    """What is known of the key of a provider, but never the key."""

    place: Place
    variable: str = ""
    """The variable that holds it."""


def provider_list(report: Report) -> None:
    """Write which providers there are."""
    states = {provider: _find_key_state(provider) for provider in PROVIDERS.values()}
    default = default_provider(os.environ, stored_key)
    if states[default].place == "missing":
        default = PROVIDERS["demo"]
    if report.as_json:
        report.write_data(
            {
                "default": default.name,
                "keyring": {
                    "installed": KEYRING.is_installed,
                    "problem": None if KEYRING.problem is None else str(KEYRING.problem),
                },
                "providers": [
                    _describe_provider(provider, state) for provider, state in states.items()
                ],
            }
        )
        return
    rows = [("PROVIDER", "DEFAULT MODEL", "KEY VARIABLE", "KEY")]
    for provider, state in states.items():
        rows += _make_rows(provider, state)
    report.write_lines(in_columns(rows, report.width))
    report.say_aside(f"without `--model`, `{default.name}` answers")
    if not KEYRING.is_installed:
        report.say_aside(f"keys can also be in the system keyring: `pip install '{EXTRA}'`")
    elif KEYRING.problem is not None and KEYRING.problem.is_absent:
        report.say_aside(f"no key is looked for in a keyring: {KEYRING.problem}")
    elif default.name == "demo":
        report.say_aside(f"`{KEY_SET} NAME` keeps the key of a provider")


def _make_rows(provider: KnownProvider, state: KeyState) -> Iterator[tuple[str, str, str, str]]:
    """The row of a provider, and one for each further variable of its key."""
    first, *others = provider.variables or ("-",)
    descriptions = {state.variable or first: _describe_key(provider, state)}
    yield provider.name, provider.model or "-", first, descriptions.get(first, "")
    for variable in others:
        yield "", "", variable, descriptions.get(variable, "")


def _find_key_state(provider: KnownProvider) -> KeyState:
    if variable := provider.key_set_in(os.environ):
        return KeyState("environment", variable)
    if stored_key(provider):
        return KeyState("keyring")
    if not provider.variables:
        return KeyState("none needed")
    return KeyState("missing" if provider.needs_key else "optional")


def _describe_key(provider: KnownProvider, state: KeyState) -> str:
    match state.place:
        case "environment":
            return "in the environment"
        case "keyring":
            return "in the keyring"
        case "missing":
            return "not set"
        case "optional":
            return f"not set ({provider.without_key})"
        case "none needed":
            return "none needed"


def _describe_provider(provider: KnownProvider, state: KeyState) -> dict[str, Any]:
    return {
        "name": provider.name,
        "module": provider.module_id,
        "default_model": provider.model or None,
        "key_variables": list(provider.variables),
        "key": state.place,
        "variable": state.variable or None,
    }
