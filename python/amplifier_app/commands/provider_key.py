"""The keys that the command gives its providers: of the environment, or else of the keyring."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from amplifier_app.commands.provider_choice import PROVIDERS, KnownProvider
from amplifier_app.failure import Failure
from amplifier_app.known_secrets import SECRETS
from amplifier_app.notice import show_notice
from amplifier_app.outcome import WRONG_USAGE
from amplifier_app.system_keyring import KEYRING, KeyringProblem

if TYPE_CHECKING:
    from amplifier_app.commands.named_modules import NamedModules

KEY_SET = "amplifier-core provider key set"


def stored_key(provider: KnownProvider) -> str:
    """Return the key that the keyring has for a provider, empty if none or if it is not asked.

    It is not asked where a variable holds the key. A keyring that cannot be used is reported once
    and counts as empty; a system without a keyring is not reported.
    """
    if not provider.key_variable or provider.key_set_in(os.environ):
        return ""
    is_known = KEYRING.problem is not None
    try:
        key = KEYRING.read(provider.name)
    except KeyringProblem as problem:
        if not is_known and not problem.is_absent:
            show_notice(f"warning: {problem}; set `{provider.key_variable}` instead")
        return ""
    if key:
        keep_secret(provider, key)
        KEYRING.in_use.add(provider.name)
    return key


def keep_secret(provider: KnownProvider, key: str) -> None:
    """Have a key removed from all that is shown."""
    with contextlib.suppress(ImportError):  # without the extension no call is made
        SECRETS.learn({provider.key_variable: key})


def key_config(provider: KnownProvider, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config of a provider with the key of the keyring, where it has none and needs it."""
    if config.get("api_key") or not (key := stored_key(provider)):
        return dict(config)
    return {**config, "api_key": key}


def with_stored_keys(named: NamedModules) -> NamedModules:
    """Return the modules that a user names, their providers with the keys of the keyring."""
    known = {each.module_id: each for each in PROVIDERS.values() if each.key_variable}
    modules = tuple(
        replace(each, config=key_config(known[each.module_id], each.config))
        if each.module_id in known
        else each
        for each in named.modules
    )
    plan = named.plan
    if isinstance(specs := plan.get("providers"), list):
        entries = [_with_key(each, known) for each in cast("list[Any]", specs)]
        plan = {**plan, "providers": entries}
    return replace(named, modules=modules, plan=plan)


def _with_key(spec: Any, known: Mapping[str, KnownProvider]) -> Any:
    """Return an entry of a plan with its key; the form of the plan is not checked yet."""
    entry = cast("dict[str, Any]", {"module": spec} if isinstance(spec, str) else spec)
    if not isinstance(entry, dict):  # pyright: ignore[reportUnnecessaryIsInstance] -- of a file
        return spec
    module: object = entry.get("module")
    provider = known.get(module) if isinstance(module, str) else None
    given = cast("dict[str, Any]", entry.get("config") or {})
    if provider is None or not isinstance(given, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
        return spec
    filled = key_config(provider, given)
    return spec if filled == given else {**entry, "config": filled}


def no_key(provider: KnownProvider, user: str, otherwise: str = "") -> Failure:
    """Return the failure for a key that is nowhere.

    Args:
        provider: Whose key it is.
        user: What needs it, in backticks.
        otherwise: What else could be done.
    """
    ways = ["set it"]
    if KEYRING.problem is None:
        ways.append(f"keep the key in the system keyring with `{KEY_SET} {provider.name}`")
    if otherwise:
        ways.append(otherwise)
    hint = ", or ".join([", ".join(ways[:-1]), ways[-1]]) if len(ways) > 1 else ways[0]
    message = f"`{provider.key_variable}` is not set, which {user} needs"
    return Failure(message, hint=hint, exit_code=WRONG_USAGE)
