"""`amplifier-core provider key`: puts keys into the keyring of the system, and removes them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence

from amplifier_app.commands.provider_choice import PROVIDERS, KnownProvider, known_provider
from amplifier_app.commands.provider_key import KEY_SET, keep_secret
from amplifier_app.commands.report import Report
from amplifier_app.failure import Failure
from amplifier_app.notice import show_notice
from amplifier_app.outcome import WRONG_USAGE
from amplifier_app.system_keyring import EXTRA, KEYRING, KeyringProblem

_MAX_KEY_CHARS = 4_096
_NAME = re.compile(r"[A-Za-z][A-Za-z-]{1,19}")
"""What may be the misspelt name of a provider; anything else may be a key, and is not shown."""


def keep_key(report: Report, name: str, surplus: Sequence[str]) -> None:
    """Put a key into the keyring, which is typed or read from standard input.

    Raises:
        Failure: There is no such provider, or it needs no key; the key or the keyring cannot be used.
    """
    provider = _find_provider(name, surplus)
    _require_keyring(provider)
    key = _read_key(provider)
    keep_secret(provider, key)
    try:
        KEYRING.write(provider.name, key)
    except KeyringProblem as problem:
        raise _make_keyring_failure(provider, problem) from None
    report.write_lines([f"the key of {provider.name} is in the system keyring"])
    if variable := provider.key_set_in(os.environ):
        show_notice(f"warning: {variable} is set, and goes before the keyring")


def remove_key(report: Report, name: str, surplus: Sequence[str]) -> None:
    """Remove a key from the keyring.

    Raises:
        Failure: There is none, or the keyring cannot be used.
    """
    provider = _find_provider(name, surplus)
    _require_keyring(provider)
    try:
        is_there = bool(KEYRING.read(provider.name))
        if is_there:
            KEYRING.remove(provider.name)
    except KeyringProblem as problem:
        raise _make_keyring_failure(provider, problem) from problem
    if not is_there:
        raise Failure(f"the system keyring has no key of {provider.name}")
    report.write_lines([f"the key of {provider.name} is no more in the system keyring"])


def _find_provider(name: str, surplus: Sequence[str]) -> KnownProvider:
    if surplus:
        # What was written is not repeated: it is a key, and now in the history of the shell.
        message = "a key is never an argument: other programs can read it, and the shell keeps it"
        hint = f"type it after `{KEY_SET} NAME`, or pipe it in"
        raise Failure(message, hint=hint, exit_code=WRONG_USAGE)
    if name not in PROVIDERS and not _NAME.fullmatch(name):
        hint = "see `amplifier-core provider list`"
        raise Failure("there is no provider of this name", hint=hint, exit_code=WRONG_USAGE)
    provider = known_provider(name)
    if not provider.key_variable:
        raise Failure(f"`{name}` needs no key", exit_code=WRONG_USAGE)
    return provider


def _require_keyring(provider: KnownProvider) -> None:
    if not KEYRING.is_installed:
        message = "the system keyring needs the package `keyring`"
        hint = f"`pip install '{EXTRA}'`, or set `{provider.key_variable}`"
        raise Failure(message, hint=hint)


def _read_key(provider: KnownProvider) -> str:
    """Read the key from where nobody sees it.

    Raises:
        Failure: It is empty, or no key.
    """
    try:
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]  # closed at start
            text = ""
        elif sys.stdin.isatty():
            from getpass import getpass

            text = getpass(f"Key of {provider.name} (not shown): ", stream=sys.stderr)
        else:
            text = sys.stdin.read(_MAX_KEY_CHARS + 1)
    except EOFError:
        text = ""
    except (OSError, ValueError) as error:  # what cannot be decoded may be a part of a key
        why = getattr(error, "strerror", None) or "it is not text"
        raise Failure(f"standard input cannot be read: {why}", exit_code=WRONG_USAGE) from None
    key = text.strip()
    if not key:
        raise Failure("no key was given", hint="nothing was changed", exit_code=WRONG_USAGE)
    if len(key) > _MAX_KEY_CHARS or not re.fullmatch(r"[\x21-\x7e]+", key):
        message = "what was given is no key (must be visible ASCII characters, in one word)"
        raise Failure(message, hint="nothing was changed", exit_code=WRONG_USAGE)
    return key


def _make_keyring_failure(provider: KnownProvider, problem: KeyringProblem) -> Failure:
    return Failure(str(problem), hint=f"set `{provider.key_variable}` instead")
