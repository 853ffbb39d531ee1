"""How a service is asked for thinking, or for none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_core.message_models import ChatRequest

from ..wire.body import WireRequest
from ..wire.options import asked_effort
from .config import ChatSettings
from .presets import Preset

_BY_ITSELF = "what the model does by itself"


def add_thinking(
    encoded: WireRequest,
    request: ChatRequest,
    preset: Preset,
    settings: ChatSettings,
    options: Mapping[str, Any],
) -> None:
    """Ask for thinking as far as it is wanted; note what cannot be asked for.

    Args:
        encoded: The request, with its tools.
        request: What is wanted.
        preset: The service.
        settings: The effort of requests that set none.
        options: Keywords of the call: `reasoning`, `reasoning_effort`, `extended_thinking`.
    """
    body = encoded.fields
    switch: bool | None = options.get("extended_thinking")
    effort = asked_effort(options, request, settings)
    is_off = switch is False or effort == "none"
    is_wanted = not is_off and bool(switch or effort)
    match preset.thinking:
        case "reasoning_effort":
            # Models that think do so without being asked, and others refuse the field.
            if effort and switch is not False:
                body["reasoning_effort"] = effort
            elif is_off:
                encoded.degrade("no thinking", _BY_ITSELF, "no field turns it off for all models")
        case "reasoning" if is_off:
            body["reasoning"] = {"enabled": False}
        case "reasoning" if is_wanted:
            body["reasoning"] = {"effort": effort} if effort else {"enabled": True}
        case "thinking":
            # It thinks unless it is told not to, and then lets no tool be forced on it.
            is_forced = body.get("tool_choice") not in (None, "auto", "none")
            if is_forced and is_wanted:
                reason = "a forced tool call excludes thinking"
                encoded.degrade("thinking", "no thinking", reason)
            if is_off or is_forced:
                body["thinking"] = {"type": "disabled"}
            elif is_wanted:
                body["thinking"] = {"type": "enabled"}
                if effort:
                    body["reasoning_effort"] = effort
        case "none" if is_off or is_wanted:
            wanted = "thinking" if is_wanted else "no thinking"
            encoded.degrade(wanted, _BY_ITSELF, f"{preset.title} has no field for it")
        case _:
            pass
