"""One provider alone, without a session, for the commands that ask its service."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import AsyncGenerator, Coroutine, Mapping
from importlib import import_module
from typing import Any, TypeVar, cast

from amplifier_app.collected_warnings import collect_warnings
from amplifier_app.commands.provider_choice import DEMO, KnownProvider
from amplifier_app.commands.provider_key import key_config, no_key
from amplifier_app.failure import Failure
from amplifier_app.known_secrets import SECRETS
from amplifier_app.notice import show_notice
from amplifier_app.outcome import WRONG_USAGE

Value = TypeVar("Value")


def provider_config(
    provider: KnownProvider, written: str | None, seconds: float
) -> Mapping[str, Any]:
    """Return the config of a provider: what is written, what the environment says, and its key.

    A failure is not retried unless the environment says so: the user asks whether it works now.

    Args:
        provider: Who is asked.
        written: The value of `--config`.
        seconds: How long the service may be silent.

    Raises:
        Failure: The config cannot be used, or there is no key.
    """
    from amplifier_app.commands.settings import provider_settings

    given = _read_config(written)
    if provider is DEMO:
        return given
    configured = provider_settings(os.environ)
    if not os.environ.get("PROVIDER_CONTENT_TIMEOUT", "").strip():
        configured["content_timeout"] = seconds
    config = key_config(provider, {"max_retries": 0, "timeout": seconds, **configured, **given})
    if not provider.has_key(os.environ) and not config.get("api_key"):
        raise no_key(provider, f"`{provider.name}`")
    SECRETS.learn(config)
    return config


def run(work: Coroutine[Any, Any, Value]) -> Value:
    """Run what asks a service to its end, on a loop of its own."""
    from amplifier_app.lazy_trio import import_httpcore

    import_httpcore()
    import asyncio

    return asyncio.run(work)


@contextlib.asynccontextmanager
async def mount_provider(provider: KnownProvider, config: Mapping[str, Any]) -> AsyncGenerator[Any]:
    """Mount a provider of ours; yields it, and closes it at the end.

    Raises:
        Failure: It cannot be mounted, such as for want of an address.
        ConfigurationError: A setting has the wrong type or cannot work.
    """
    from amplifier_core import ModuleCoordinator
    from amplifier_core.known_modules import list_own_modules
    from amplifier_core.llm_errors import LLMError

    coordinator = ModuleCoordinator()
    module = import_module(list_own_modules()[f"provider-{provider.name}"])
    warnings: list[str] = []
    with collect_warnings("amplifier_providers", warnings):
        close = await module.mount(coordinator, dict(config))
    found = cast("dict[str, Any]", coordinator.get("providers") or {})
    if not found:
        message = warnings.pop() if warnings else f"`{provider.name}` is not mounted"
        raise Failure(message)
    try:
        yield next(iter(found.values()))
    except LLMError as error:
        # Some providers ask their servers when they are mounted, and meet the same fault there.
        hint = error.hint
        warnings = [each for each in warnings if hint is None or not each.endswith(hint)]
        raise
    finally:
        for warning in warnings:
            show_notice(f"warning: {warning}")
        if close is not None:
            await close()


def _read_config(written: str | None) -> dict[str, Any]:
    if written is None:
        return {}
    hint = """write it as `--config '{"base_url": "…"}'`"""
    try:
        given = json.loads(written)
    except (ValueError, RecursionError):
        raise Failure("`--config` is not JSON", hint=hint, exit_code=WRONG_USAGE) from None
    if not isinstance(given, dict):
        kind = type(given).__name__
        message = f"`--config` is a `{kind}` (must be an object)"
        raise Failure(message, hint=hint, exit_code=WRONG_USAGE)
    if "api_key" in given:
        hint = "set its variable, or keep it in the keyring, as other programs can read arguments"
        message = "`--config` takes no `api_key`"
        raise Failure(message, hint=hint, exit_code=WRONG_USAGE)
    return cast("dict[str, Any]", given)
