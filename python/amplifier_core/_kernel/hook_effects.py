"""What a hook's result does: inject into the context, notify the user, ask the user."""

from __future__ import annotations

import logging
from collections.abc import Callable
from math import copysign
from typing import Any

from .. import world
from .._hook_result import ContextInjection, HookResult
from ..approval import ApprovalTimeoutError, asker, clip_prompt, note_timeout, read_approval
from ..event_loop import is_awaitable
from .argument import any_text, take_text
from .hook_answer import copy_with, list_injections, make_denial, nothing_left, project_injections
from .own_failure import is_own_failure
from .timeout import EXPIRED, await_within

logger = logging.getLogger("amplifier_core.coordinator")

APPROVAL_GRACE_SECONDS = 1.0
"""The kernel's own timer on an approval leaves the approval system's so long to be first."""

_UNKNOWN_HOOK = "unknown"
"""The name of a hook whose caller does not know it."""

_CONTROL = dict.fromkeys({*range(0x20), *range(0x7F, 0xA0)} - {*map(ord, "\t\n\r")})
"""Characters that must not reach a model."""


async def carry_out(
    coordinator: Any, ask: Callable[..., Any], result: Any, event: str, hook_name: str
) -> Any:
    """Carry out what a hook's result asks for, and return what is left to the loop.

    Args:
        coordinator: Whose context, display and approval system are used.
        ask: Asks an approval system, by either of its protocols.
        result: A `HookResult`.
        event: Event that the hook answered.
        hook_name: Name of the hook.

    Raises:
        ValueError: An injection is too long, or the limit of the turn is reached; nothing is injected then.
    """
    if any_text(result.action) == "inject_context":
        items = _checked_injections(coordinator, result, event, hook_name)
        ephemeral = [item for item in items if item.ephemeral]
        result = copy_with(result, project_injections(ephemeral) if ephemeral else nothing_left())
        for item in items:
            if not item.ephemeral:
                await _add_to_context(coordinator, item)
    if any_text(result.action) == "ask_user":
        if hook_name == _UNKNOWN_HOOK:
            hook_name = asker(result) or hook_name
        return await _ask(coordinator.approval_system, ask, result, event, hook_name)
    if result.user_message:
        await _show(coordinator.display_system, result, hook_name)
    if getattr(result, "suppress_output", False):
        logger.debug("hook `%s` suppresses the output", hook_name)
    return result


def _checked_injections(
    coordinator: Any, result: Any, event: str, hook_name: str
) -> list[ContextInjection]:
    """Return the injections as they may reach a model, and charge the turn for them."""
    items = list_injections(result, hook_name, event)
    for item in items:
        item.content = item.content.translate(_CONTROL)
    items = [item for item in items if item.content]
    limit = coordinator.injection_size_limit
    budget = coordinator.injection_budget_per_turn
    if limit is not None and any(len(item.content) > limit for item in items):
        raise ValueError(f"Context injection exceeds {limit} characters")
    used = coordinator._current_turn_injections
    cost = sum(len(item.content) // 4 for item in items)
    total = coordinator._session_setting("injection_limit_per_turn")
    if cost and total is not None and used + cost > total:
        raise ValueError(f"Context injections exceed {total} tokens in this turn")
    for item in items:
        tokens = len(item.content) // 4
        if budget is not None and used + tokens > budget:
            logger.warning(
                "hook `%s` exceeds the injection budget of the turn: "
                "%s tokens used, %s more, %s allowed",
                item.hook_name,
                used,
                tokens,
                budget,
            )
        used += tokens
    coordinator._current_turn_injections = used
    for item in items:
        logger.info(
            "hook `%s` injects %s characters as `%s` on `%s`%s",
            item.hook_name,
            len(item.content),
            item.role,
            item.event,
            " for one request" if item.ephemeral else "",
        )
    return items


async def _add_to_context(coordinator: Any, item: ContextInjection) -> None:
    add = getattr(coordinator.mount_points.get("context"), "add_message", None)
    if add is None:
        return
    metadata = {
        "source": "hook",
        "hook_name": item.hook_name,
        "event": item.event,
        "timestamp": world.timestamp(),
        "requested_role": item.role,
        "ephemeral": False,
        "persisted": True,
    }
    added = add({"role": item.role, "content": item.content, "metadata": metadata})
    if is_awaitable(added):
        await added


async def _show(display: Any, result: Any, hook_name: str) -> None:
    """Show a result's message to the user."""
    if display is None:
        logger.debug("hook `%s` has a message but no display is set", hook_name)
        return
    source = getattr(result, "user_message_source", None) or hook_name
    level = result.user_message_level
    try:
        shown = display.show_message(result.user_message, level, f"hook:{source}")
        if is_awaitable(shown):
            await shown
    except BaseException as error:
        if not is_own_failure(error):
            raise
        logger.error("the display failed to show a message of hook `%s`", hook_name, exc_info=error)


def _grant_event(data: Any) -> HookResult:
    """Let the event continue with the payload that the question was about."""
    return HookResult(action="continue").model_copy(update={"data": data})


async def _ask(
    approval: Any, ask: Callable[..., Any], result: Any, event: str, hook_name: str
) -> HookResult:
    """Ask the approval system, which has to answer in time."""
    if approval is None:
        logger.error("hook `%s` asks for approval, but no approval system is set", hook_name)
        return make_denial("No approval system available")
    prompt = any_text(result.approval_prompt or "Allow this operation?")
    options = [
        take_text(option) for option in _list_options(result.approval_options or ["Allow", "Deny"])
    ]
    seconds = _read_seconds(result.approval_timeout)
    default = result.approval_default
    any_text(default)
    try:
        asked = (prompt, options.copy(), seconds, default, hook_name, event)
        decision = ask(approval, *asked)
        if is_awaitable(decision):
            limit = max(seconds + APPROVAL_GRACE_SECONDS, 0.0)
            is_limited = limit < float("inf")
            what = f"the approval for hook `{hook_name}`"
            decision = await (await_within(decision, limit, what) if is_limited else decision)
    except (TimeoutError, ApprovalTimeoutError):
        decision = EXPIRED
    if decision is EXPIRED:
        note_timeout()
        logger.warning(
            "approval for hook `%s` timed out; using its default `%s`", hook_name, default
        )
        if default == "allow":
            return _grant_event(getattr(result, "data", None))
        return make_denial(f"Approval timeout - denied by default: {clip_prompt(prompt)}")
    if not isinstance(decision, str):
        found = type(decision).__name__
        raise TypeError(
            f"the approval system must answer with one of its options as a str, not `{found}`"
        )
    decision = any_text(decision)
    verdict = read_approval(decision, options)
    if verdict == "granted":
        return _grant_event(getattr(result, "data", None))
    if verdict == "unexpected":
        logger.warning(
            "the approval system answered `%s`, which is not one of `%s`; denying",
            clip_prompt(decision),
            "`, `".join(options),
        )
    return make_denial(f"User denied: {clip_prompt(prompt)}")


def _list_options(options: Any) -> list[Any]:
    if isinstance(options, str):
        raise TypeError("Can't extract `str` to `Vec`")
    return list(options)


def _read_seconds(value: Any) -> float:
    copysign(1.0, value)  # refuses the text that `float` would parse
    return float(value)
