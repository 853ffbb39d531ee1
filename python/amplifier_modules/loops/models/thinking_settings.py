"""What the settings of a loop say of thinking."""

from __future__ import annotations

from typing import Any

from ...providers.requested_thinking import RequestedThinking, requested_thinking
from ..settings import LoopSettings


def thinking_options(settings: LoopSettings, *, is_aside: bool) -> dict[str, Any]:
    """Return the keywords with which a provider is called.

    Args:
        settings: The settings of the loop.
        is_aside: Whether the call is beside the conversation: nobody needs its thoughts.
    """
    asked = RequestedThinking.parse(settings.extended_thinking)
    if asked.is_on is None or (asked.is_on and is_aside):
        return {}
    return {"extended_thinking": settings.extended_thinking}


def must_hide_thoughts(settings: LoopSettings, provider: Any) -> bool:
    """Whether the loop itself must keep back thoughts that come though none are asked for."""
    if getattr(provider, "hides_thoughts", None) is True:
        return False
    return requested_thinking({}, None, settings).is_off
