"""Words of providers for why an answer ended that is none."""

from __future__ import annotations

CUT_SHORT = frozenset({"max_tokens", "length", "model_context_window_exceeded", "pause_turn"})
REFUSED = frozenset({"refusal", "content_filter", "safety"})
