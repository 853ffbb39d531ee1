"""Answers of hooks that have no effect: refused in strict sessions if they decide, else logged."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from .._hook_result import UNKNOWN_KEYS, HookResult
from ..handlers import JUDGED_EVENTS, handler_name
from ..suggest import suggest_name
from .hook_answer import make_denial

logger = logging.getLogger("amplifier_core.hooks")

_REFUSES, _LOGGED = "_refuses_mistakes", "_logged_mistakes"
"""Attributes of a registry: whether its session is strict, and what was logged."""


def refuse_mistakes(hooks: Any) -> None:
    """Refuse, from now on, the steps about which a hook gives an answer with a mistake."""
    with suppress(AttributeError):  # a stand-in may take no attributes
        setattr(hooks, _REFUSES, True)


def is_mistaken(result: HookResult) -> bool:
    """Whether a part of an answer has no effect."""
    if result.action == "modify":
        return result.data is None or UNKNOWN_KEYS in result.__dict__
    if result.action == "inject_context" and result.context_injection is None:
        return not result.context_injections or UNKNOWN_KEYS in result.__dict__
    return UNKNOWN_KEYS in result.__dict__


def judge_mistake(
    hooks: Any, event: str, name: str, handler: Any, result: HookResult
) -> HookResult | None:
    """Log an answer with a mistake; return the denial of a judged event in a strict session.

    Args:
        hooks: The registry.
        event: The event.
        name: The name that the handler is registered by.
        handler: The handler.
        result: Its answer, of which a part has no effect.
    """
    if event not in JUDGED_EVENTS or getattr(hooks, _REFUSES, None) is not True:
        warn_of_mistake(hooks, event, name, handler, result)
        return None
    what = f"hook {_describe_handler(name, handler)} answered `{event}` with {_describe_mistake(result)}"
    logger.error("SECURITY: %s; denying", what)
    return make_denial(what)


def warn_of_mistake(hooks: Any, event: str, name: str, handler: Any, result: HookResult) -> None:
    """Log an answer with a mistake, each mistake of a handler once; the arguments are those above."""
    where, mistake = _describe_handler(name, handler), _describe_mistake(result)
    logged: set[tuple[str, str]] = hooks.__dict__.setdefault(_LOGGED, set())
    if (where, mistake) not in logged:
        logged.add((where, mistake))
        logger.warning("hook %s answered `%s` with %s, which has no effect", where, event, mistake)


def _describe_handler(name: str, handler: Any) -> str:
    """Return the name that a handler was given, if it was, and where its code is."""
    found = f"`{handler_name(handler)}`"
    return found if name.startswith("_auto_") else f"`{name}` ({found})"


def _describe_mistake(result: HookResult) -> str:
    """Return what has no effect, with the name that may be meant."""
    if unknown := result.__dict__.get(UNKNOWN_KEYS):
        known = type(result).model_fields
        return " and ".join(
            f"the unknown key `{key[:80]}`{_write_advice(key[:80], known)}" for key in unknown[:8]
        )
    if result.action == "modify":
        return "`modify` and no `data`"
    return "`inject_context` and no text in `context_injection` or `context_injections`"


def _write_advice(key: str, known: Iterable[str]) -> str:
    advice = suggest_name(key, known).removeprefix("; ")
    return advice and f" ({advice})"
