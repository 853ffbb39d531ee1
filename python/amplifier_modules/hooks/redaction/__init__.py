"""`hooks-redaction`: removes secrets from prompts and events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import Field

from amplifier_core.events import ALL_EVENTS
from amplifier_core.models import HookResult
from amplifier_core.session_capabilities import GUARD_REDACTOR
from amplifier_core.weak_link import link_weakly
from amplifier_guard import Redactor
from amplifier_modules.loops.steering import STEERING_SUBMITTED
from amplifier_providers.settings import Settings, read_settings

__amplifier_module_type__ = "hook"

NAME = "hooks-redaction"
EARLY = 10
_AS_THEY_ARE = frozenset({"tool:pre", "tool:post", "tool:start", "provider:request"})
"""Events whose data is used: a call with a changed argument would do something else."""
_FIELDS = frozenset({"session_id", "parent_id", "timestamp", "request_id"})


class RedactionSettings(Settings):
    """What is redacted."""

    unknown_keys = "refuse"

    prompts: bool = True
    """Whether prompts are redacted before a model, and the history, gets them."""
    keep: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Keys at the top of payloads that are left as they are."""


__amplifier_settings__ = RedactionSettings

__all__ = ["RedactionSettings", "mount"]


class Redaction:
    """The handler of a session."""

    def __init__(self, coordinator: Any, settings: RedactionSettings) -> None:
        """Redact for a session."""
        self._find_coordinator = link_weakly(coordinator)
        self._kept = _FIELDS | {*settings.keep}

    async def redact_event(self, _: str, data: dict[str, Any]) -> HookResult | None:
        """Return the payload without secrets; None where it has none."""
        redactor: Any = self._find_coordinator().get_capability(GUARD_REDACTOR) or Redactor()
        others = {key: value for key, value in data.items() if key not in self._kept}
        redacted = redactor.redact_data(others)
        if redacted == others:
            return None
        return HookResult(action="modify", data={**data, **redacted})


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Callable[[], None]:
    """Redact the events of a session; what a program hands on is another copy.

    Args:
        coordinator: The coordinator of the session.
        config: See `RedactionSettings`.

    Returns:
        A callable that unregisters its handlers.

    Raises:
        SettingError: A key is unknown, or a value cannot be used.
    """
    settings = read_settings(RedactionSettings, config, NAME)
    prompts = {"prompt:submit", STEERING_SUBMITTED}
    events = ({*ALL_EVENTS} - _AS_THEY_ARE - prompts) | (
        prompts if settings.prompts else set[str]()
    )
    handler = Redaction(coordinator, settings).redact_event
    registered = [
        coordinator.hooks.register(
            event, handler, priority=EARLY, name=NAME, fail_closed=event in prompts
        )
        for event in sorted(events)
    ]

    def unregister() -> None:
        for each in registered:
            each()

    return unregister
