"""The review of a mount plan when its modules are mounted: nothing that it says fails in silence."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Iterable
from contextlib import suppress
from typing import Any, TypeAlias, cast

from ..approval import find_approval_mistake
from ..error_messages import add_hint, error_text
from ..handlers import count_registrations
from ..mount_plan import is_strict
from .handled_events import idle_handlers, strange_handlers
from .load_report import LoadFailure, LoadReport, take_report
from .plan_keys import UnreadSource, plan_mistakes, settings_mistakes, unread_sources

logger = logging.getLogger("amplifier_core.session")

_Reviewed: TypeAlias = tuple[frozenset[tuple[str, int]], frozenset[str]]
_REVIEWED = "_reviewed_handlers"
"""Attribute of a coordinator: the handlers that were reviewed, and what was said of them."""


def reviewed_failure(plan: dict[str, Any], coordinator: Any, error: Exception) -> Exception:
    """Log each mistake of a plan that a session could not begin with.

    Returns:
        The error itself; for a strict plan one that lists the mistakes after it, and whose
        `ConfigurationError` has it as the cause.
    """
    report = take_report(coordinator)
    failures = () if report is None else report.failures
    mistakes = [*plan_mistakes(plan), *([] if report is None else _of_modules(report))]
    # What comes behind the module that failed was not looked for.
    mistakes += (
        source.mistake
        for source in _list_unread_sources(plan, coordinator)
        if _is_failed(source, failures) or _ends_at(error, source)
    )
    if is_strict(plan):
        texts = [add_hint(error_text(error), error), *map(str, failures), *mistakes]
        return _make_refusal(texts, error)
    for text in mistakes:
        logger.warning("%s", text)
    return error


def review(plan: dict[str, Any], coordinator: Any) -> Awaitable[None] | None:
    """Log each mistake of a mount plan in one line, or raise all of them if it is strict.

    Args:
        plan: The mount plan.
        coordinator: What its modules are mounted on.

    Returns:
        The rest of the review, which must be awaited and raises the same; None if it is done.

    Raises:
        RuntimeError: A required module failed, with its error as the cause; or the plan is strict
            and has mistakes, with a `ConfigurationError` as the cause that lists all of them.
    """
    report = take_report(coordinator)
    mistakes = plan_mistakes(plan)
    failures = () if report is None else report.failures
    for source in _list_unread_sources(plan, coordinator):
        if _is_failed(source, failures):
            mistakes.append(source.mistake)
        else:
            logger.info("%s", source.remark)
    if report is not None and (report.configured or report.replaced):
        mistakes += _of_modules(report)
    if count_registrations(coordinator.hooks) and (strange := strange_handlers(coordinator.hooks)):
        return _review_handlers(plan, coordinator, report, mistakes, strange)
    if failures or mistakes or coordinator.approval_system is not None:
        _conclude(plan, coordinator, failures, mistakes, [])
    return None


async def _review_handlers(
    plan: dict[str, Any],
    coordinator: Any,
    report: LoadReport | None,
    mistakes: list[str],
    strange: frozenset[tuple[str, int]],
) -> None:
    """Go on with a review where some handlers wait for events that may not exist."""
    earlier = None if report is None else report.earlier_handlers
    own, foreign = await idle_handlers(coordinator, earlier)
    _remember(coordinator, strange, [*own, *foreign])
    failures = () if report is None else report.failures
    _conclude(plan, coordinator, failures, [*mistakes, *own], foreign)


def _conclude(
    plan: dict[str, Any],
    coordinator: Any,
    failures: tuple[LoadFailure, ...],
    mistakes: list[str],
    foreign: list[str],
) -> None:
    """Say what was found; `foreign` never ends the load."""
    warnings = foreign
    if (wrong := find_approval_mistake(coordinator.approval_system)) is not None:
        warnings = [*foreign, wrong]
    must_be_right = is_strict(plan)
    for text in warnings if must_be_right else [*mistakes, *warnings]:
        logger.warning("%s", text)
    if must_be_right and (failures or mistakes):
        raise _make_refusal([*map(str, failures), *mistakes])
    if required := [failure for failure in failures if failure.is_required]:
        raise _make_load_error(required)


def review_late_handlers(coordinator: Any) -> Awaitable[None] | None:
    """Log each handler, registered since the last review, whose event nothing emits.

    Returns:
        What must be awaited for that; None if there is no such handler.
    """
    if not count_registrations(coordinator.hooks):
        return None
    strange = strange_handlers(coordinator.hooks)
    if not strange:
        return None
    nothing: _Reviewed = (frozenset(), frozenset())
    last: object = getattr(coordinator, _REVIEWED, None)
    reviewed, logged = cast("_Reviewed", last) if isinstance(last, tuple) else nothing
    return None if strange <= reviewed else _review_late(coordinator, strange, logged)


async def _review_late(
    coordinator: Any, strange: frozenset[tuple[str, int]], logged: frozenset[str]
) -> None:
    own, foreign = await idle_handlers(coordinator)
    texts = [*own, *foreign]
    _remember(coordinator, strange, texts)
    for text in texts:
        if text not in logged:
            logger.warning("%s", text)


def _remember(coordinator: Any, strange: frozenset[tuple[str, int]], texts: list[str]) -> None:
    """Remember which handlers were reviewed, and what was said of them."""
    with suppress(AttributeError):  # a stand-in may take no attributes
        setattr(coordinator, _REVIEWED, (strange, frozenset(texts)))


def _list_unread_sources(plan: dict[str, Any], coordinator: Any) -> Iterable[UnreadSource]:
    """Return the sources that nothing reads."""
    is_unread = getattr(coordinator.loader, "ignores_sources", False) is True
    return unread_sources(plan) if is_unread else ()


def _is_failed(source: UnreadSource, failures: tuple[LoadFailure, ...]) -> bool:
    return any(failure.module_id == source.module_id for failure in failures)


def _ends_at(error: Exception, source: UnreadSource) -> bool:
    """Whether a session could not begin without the module of a source."""
    _, _, name = source.path.partition("session.")
    return bool(name) and error_text(error).startswith(
        f"Cannot initialize without {name.partition('.')[0].removesuffix('_source')}"
    )


def _of_modules(report: LoadReport) -> list[str]:
    unknown = (
        text
        for module in report.configured
        for text in settings_mistakes(module.module_id, module.config, module.settings)
    )
    return [*unknown, *report.replaced]


def _make_refusal(mistakes: list[str], found: Exception | None = None) -> RuntimeError:
    from ..llm_errors import ConfigurationError

    listed = "; ".join(mistakes)
    what = "a mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
    message = f"the mount plan has {what}: {listed}"
    error, cause = RuntimeError(message), ConfigurationError(message)
    cause.mistakes = tuple(mistakes)  # pyright: ignore[reportAttributeAccessIssue] -- for callers that list them
    error.__cause__, cause.__cause__ = cause, found
    return error


def _make_load_error(failures: list[LoadFailure]) -> RuntimeError:
    """The error of a session without a required module; the first failure is its cause."""
    message = "; ".join(
        f"Cannot initialize without {each.kind} '{each.module_id}': {each.text}"
        for each in failures
    )
    first = failures[0].error
    error = RuntimeError(add_hint(message, first))
    error.__cause__ = first
    return error
