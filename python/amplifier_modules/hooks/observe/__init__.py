"""`hooks-observe`: traces, statistics, error contexts and telemetry of a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amplifier_core.session_capabilities import GUARD_REDACTOR as REDACTOR
from amplifier_core.session_capabilities import OBSERVE_SESSION as CAPABILITY
from amplifier_core.session_capabilities import STREAM_METRICS
from amplifier_guard import Redactor
from amplifier_providers.settings import SettingError, read_settings

from .session import NAME, SessionObserver
from .settings import ObserveSettings

__all__ = ["CAPABILITY", "NAME", "REDACTOR", "SessionObserver", "mount"]

__amplifier_module_type__ = "hook"
__amplifier_settings__ = ObserveSettings


async def mount(coordinator: Any, config: dict[str, Any] | None = None) -> Callable[[], None]:
    """Observe the session; the `SessionObserver` is the capability `observe.session`.

    Raises:
        SettingError: A key is unknown, a value cannot be used, or OpenTelemetry is missing.
    """
    settings = read_settings(ObserveSettings, config, NAME)
    redactor = coordinator.get_capability(REDACTOR) or Redactor()
    telemetry = _make_telemetry(settings, redactor, str(coordinator.session_id))
    observer = SessionObserver(
        settings, redactor, telemetry, lambda: coordinator.get_capability(STREAM_METRICS)
    )
    coordinator.register_capability(CAPABILITY, observer)
    return observer.attach(coordinator.hooks)


def _make_telemetry(settings: ObserveSettings, redactor: Redactor, session_id: str) -> Any:
    if settings.opentelemetry is False:
        return None
    try:
        from .telemetry import Telemetry
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "opentelemetry":
            raise
        if settings.opentelemetry:
            message = "`opentelemetry` needs `opentelemetry-api` (the extra `otel`)"
            raise SettingError(f"{NAME}: {message}", module=NAME, key="opentelemetry") from None
        return None
    return Telemetry(session_id, redactor.redact, settings.most_labels)
