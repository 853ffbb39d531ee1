"""The search of a model's own service, where a provider offers one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from amplifier_core.events import PROMPT_SUBMIT
from amplifier_core.weak_link import link_weakly
from amplifier_modules.instructions.reporting import report_problems
from amplifier_modules.running.session_bound import session_bound

NAME = "tool-web"


class OwnSearch:
    """Has the providers of a session offer their search from its first turn on."""

    def __init__(self, coordinator: Any) -> None:
        """Look at the providers of the session of a coordinator."""
        self._find_coordinator = link_weakly(coordinator)
        self._is_offered = False

    def register(self) -> Callable[[], None]:
        """Register the handler; call what is returned to unregister it."""
        # With a turn, as providers may be mounted after the tools.
        hooks = self._find_coordinator().hooks
        return hooks.register(PROMPT_SUBMIT, self.offer_search, name=NAME)

    @session_bound
    async def offer_search(self, event: str, data: dict[str, Any]) -> None:
        """Have each provider offer its search, and say which ones have none."""
        del event, data
        if self._is_offered:
            return
        self._is_offered = True
        coordinator: Any = self._find_coordinator()
        providers = cast("Mapping[str, Any]", coordinator.get("providers") or {})
        without: list[str] = []
        for name, provider in providers.items():
            offer: Any = getattr(provider, "offer_web_search", None)
            if not callable(offer) or offer() is not True:
                without.append(f"the provider `{name}` has no search of its own: there is none")
        await report_problems(coordinator, NAME, without)
