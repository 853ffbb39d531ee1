"""The models that services name, asked for while a person goes on typing."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from amplifier_app.commands.provider_choice import KnownProvider

SECONDS = 5.0
"""How long a service may take; nothing waits for it but the list of models."""

Ask = Callable[[KnownProvider], Sequence[str]]
"""Returns the names of the models of a provider; it may block, and raise anything."""


class ServiceModels:
    """Asks each service once, in a thread: what has been imported for that never holds up a key."""

    def __init__(self, ask: Ask | None = None) -> None:
        """Ask by this; None for the services themselves."""
        self._ask = ask or ask_service
        self._found: dict[str, asyncio.Future[Sequence[str]]] = {}

    async def find(self, providers: Iterable[KnownProvider]) -> dict[str, Sequence[str]]:
        """Return the models by the names of their providers; of those that answer in time.

        Args:
            providers: Whose models.
        """
        names: list[str] = []
        for provider in providers:
            names.append(provider.name)
            if provider.name not in self._found:
                self._found[provider.name] = self._start(provider)
        if names:
            await asyncio.wait([self._found[each] for each in names], timeout=SECONDS)
        done = {each: self._found[each] for each in names if self._found[each].done()}
        for each in [each for each in done if not done[each].result()]:
            del self._found[each]  # asked again the next time
        return {each: found.result() for each, found in done.items()}

    def _start(self, provider: KnownProvider) -> asyncio.Future[Sequence[str]]:
        loop = asyncio.get_running_loop()
        found: asyncio.Future[Sequence[str]] = loop.create_future()

        def finish(models: Sequence[str]) -> None:
            if not found.done():
                found.set_result(models)

        def ask() -> None:
            models: Sequence[str] = ()
            with contextlib.suppress(Exception):  # then those that are known are offered
                models = self._ask(provider)
            with contextlib.suppress(RuntimeError):  # the conversation has ended
                loop.call_soon_threadsafe(partial(finish, models))

        # A daemon: the conversation can end meanwhile.
        threading.Thread(target=ask, daemon=True).start()
        return found


def ask_service(provider: KnownProvider) -> list[str]:
    """Return the names of the models that the service of a provider names.

    Raises:
        Exception: It cannot be asked, refuses or takes too long.
    """
    from importlib import import_module

    from amplifier_app.commands.provider.mount import provider_config, run
    from amplifier_core import ModuleCoordinator
    from amplifier_core.known_modules import list_own_modules

    config = provider_config(provider, None, SECONDS)

    async def ask() -> list[str]:
        coordinator = ModuleCoordinator()
        module = import_module(list_own_modules()[provider.module_id])
        close = await module.mount(coordinator, dict(config))
        try:
            providers: dict[str, Any] = coordinator.get("providers") or {}
            [mounted] = providers.values()
            return sorted(str(each.id) for each in await mounted.list_models())
        finally:
            if close is not None:
                await close()

    async def ask_in_time() -> list[str]:
        async with asyncio.timeout(SECONDS):
            return await ask()

    return run(ask_in_time())
