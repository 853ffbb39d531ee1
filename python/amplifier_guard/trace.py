"""Decisions of the Rust code, passed on to Python's `logging`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

from amplifier_core import world
from amplifier_core._engine import keep_decisions, take_decisions
from amplifier_guard.redact import Redactor

__all__ = ["TraceLevel", "listen", "log_decisions"]

TraceLevel: TypeAlias = Literal["error", "warning", "info", "debug", "trace"]
"""The lowest level that is kept; refusals are `debug`, state changes of a breaker `info`."""

_LEVELS: tuple[str, ...] = ("off", *get_args(TraceLevel))

_listening: list[int] = []
"""The level of each listener; the process keeps the decisions of the lowest level."""


def listen(level: TraceLevel) -> Callable[[], None]:
    """Make the Rust code keep its latest 1,000 decisions until `log_decisions`.

    Returns:
        A callable that stops it, unless another listener remains.

    Raises:
        ValueError: There is no such level.
    """
    if level not in _LEVELS[1:]:
        names = ", ".join(f"`{name}`" for name in _LEVELS[1:])
        raise ValueError(f"`level` must be one of {names}, found {level!r}")
    wanted = [_LEVELS.index(level)]
    _listening.append(wanted[0])
    _keep()

    def stop() -> None:
        if wanted:
            _listening.remove(wanted.pop())
            _keep()

    return stop


def log_decisions(redactor: Redactor | None = None) -> int:
    """Pass the kept decisions to `logging`, under the names of the Rust modules; return their number.

    Args:
        redactor: Removes the secrets that it knows; whatever looks like one is removed already.
    """
    kept = take_decisions()
    for level, place, text, seconds in kept:
        logger = logging.getLogger(place.replace("::", "."))
        if logger.isEnabledFor(level):
            if redactor is not None:
                text = redactor.redact(text)
            record = logger.makeRecord(logger.name, level, "(rust)", 0, text, (), None)
            created = world.time() if seconds is None else seconds
            record.created, record.msecs = created, created % 1 * 1000
            logger.handle(record)
    return len(kept)


def _keep() -> None:
    keep_decisions(_LEVELS[max(_listening, default=0)])
