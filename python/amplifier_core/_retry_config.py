"""How often a failed call is retried, and the wait before each retry."""

from __future__ import annotations

import math
import warnings
from operator import index
from typing import Any, NoReturn

from . import world
from .error_messages import short_repr


def real_number(name: str, value: Any) -> float:
    """Return an argument as a `float`; a text is refused, however much it looks like a number."""
    try:
        if not isinstance(value, str | bytes | bytearray):
            return float(value)
    except TypeError:
        pass
    except OverflowError:
        message = f"`{name}` must be a number that a `float` can hold, found `{short_repr(value)}`"
        raise OverflowError(message) from None
    raise TypeError(f"`{name}` must be a number, found `{short_repr(value)}`")


class RetryConfig:
    """How often a call is retried and how the waits grow; immutable.

    Args:
        max_retries: Maximum number of retries.
        initial_delay: Seconds before the second call.
        max_delay: Longest wait in seconds, before an error's `delay_multiplier` and `retry_after`.
        backoff_factor: Factor from one wait to the next.
        jitter: Whether waits are spread over half to one and a half of their length; None for
            yes. A number is deprecated and means yes unless it is 0.
        honor_retry_after: Whether a wait is at least as long as the provider asked for.
        min_delay: Deprecated name of `initial_delay`.
        backoff_multiplier: Deprecated name of `backoff_factor`.

    Raises:
        TypeError: A value has the wrong type.
        OverflowError: `max_retries` is negative or beyond 32 bits.
        ValueError: A delay or the factor is NaN.
    """

    __slots__ = (
        "_backoff_factor",
        "_honor_retry_after",
        "_initial_delay",
        "_is_jittered",
        "_max_delay",
        "_max_retries",
    )

    def __init__(
        self,
        max_retries: int = 3,
        initial_delay: float = 1.0,
        max_delay: float = 60.0,
        backoff_factor: float = 2.0,
        jitter: bool | float | None = None,
        honor_retry_after: bool = True,
        min_delay: float | None = None,
        backoff_multiplier: float | None = None,
    ) -> None:
        if not isinstance(honor_retry_after, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                f"`honor_retry_after` must be a `bool`, found `{short_repr(honor_retry_after)}`"
            )
        initial = _read_number("initial_delay", initial_delay)
        factor = _read_number("backoff_factor", backoff_factor)
        if min_delay is not None:
            older = _read_number("min_delay", min_delay)
            if initial == 1.0:
                _warn_of("min_delay", "initial_delay")
                initial = older
        if backoff_multiplier is not None:
            older = _read_number("backoff_multiplier", backoff_multiplier)
            if factor == 2.0:
                _warn_of("backoff_multiplier", "backoff_factor")
                factor = older
        values = {
            "_max_retries": _count("max_retries", max_retries),
            "_initial_delay": initial,
            "_max_delay": _read_number("max_delay", max_delay),
            "_backoff_factor": factor,
            "_is_jittered": _is_jittered(jitter),
            "_honor_retry_after": honor_retry_after,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def max_retries(self) -> int:
        """Maximum number of retries."""
        return self._max_retries

    @property
    def initial_delay(self) -> float:
        """Seconds before the second call."""
        return self._initial_delay

    @property
    def max_delay(self) -> float:
        """Longest wait in seconds."""
        return self._max_delay

    @property
    def backoff_factor(self) -> float:
        """Factor from one wait to the next."""
        return self._backoff_factor

    @property
    def jitter(self) -> float:
        """0.2 where waits are spread, 0.0 where they are not."""
        return 0.2 if self._is_jittered else 0.0

    @property
    def honor_retry_after(self) -> bool:
        """Whether a wait is at least as long as the provider asked for."""
        return self._honor_retry_after

    @property
    def min_delay(self) -> float:
        """Deprecated name of `initial_delay`."""
        _warn_of("min_delay", "initial_delay")
        return self._initial_delay

    @property
    def backoff_multiplier(self) -> float:
        """Deprecated name of `backoff_factor`."""
        _warn_of("backoff_multiplier", "backoff_factor")
        return self._backoff_factor

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse: the values are fixed when the object is made."""
        raise AttributeError(f"`RetryConfig.{name}` cannot be set: make a new `RetryConfig`")

    def __delattr__(self, name: str) -> NoReturn:
        """Refuse: the values are fixed when the object is made."""
        raise AttributeError(f"`RetryConfig.{name}` cannot be deleted")

    def __reduce__(self) -> tuple[type[RetryConfig], tuple[Any, ...]]:
        """Have copies and pickles made anew from the values."""
        return type(self), self._list_values()

    def __repr__(self) -> str:
        """Write the call that makes it."""
        names = (
            "max_retries",
            "initial_delay",
            "max_delay",
            "backoff_factor",
            "jitter",
            "honor_retry_after",
        )
        pairs = zip(names, self._list_values(), strict=True)
        return f"RetryConfig({', '.join(f'{name}={value!r}' for name, value in pairs)})"

    def _list_values(self) -> tuple[Any, ...]:
        return (
            self._max_retries,
            self._initial_delay,
            self._max_delay,
            self._backoff_factor,
            self._is_jittered,
            self._honor_retry_after,
        )


def compute_delay(
    config: RetryConfig,
    attempt: int,
    retry_after: float | None = None,
    delay_multiplier: float | None = None,
) -> float:
    """Return the seconds to wait after a failed call.

    Args:
        config: How waits grow.
        attempt: Calls before the failed one; 0 after the first.
        retry_after: Least seconds that the provider asked for, whatever else holds.
        delay_multiplier: Factor that the error puts on the wait, past `max_delay` too; ignored
            unless it is finite and positive.

    Raises:
        OverflowError: `attempt` is negative or beyond 32 bits.
    """
    grown = _grow_delay(config, _count("attempt", attempt))
    delay = min(grown, config.max_delay)
    if delay_multiplier is not None and math.isfinite(delay_multiplier) and delay_multiplier > 0:
        delay *= delay_multiplier
    if config.jitter:
        delay *= 0.5 + world.random()
    # Last, so that nothing above undercuts what the server demands.
    if config.honor_retry_after and retry_after is not None and retry_after > delay:
        delay = float(retry_after)
    return delay


def _grow_delay(config: RetryConfig, attempt: int) -> float:
    """The wait before any limit; infinite where floats end."""
    initial, factor = config.initial_delay, config.backoff_factor
    if initial == 0:
        return 0.0
    try:
        return initial * math.pow(factor, attempt)
    except OverflowError:
        sign = -1.0 if factor < 0 and attempt % 2 else 1.0
        return math.copysign(math.inf, sign * initial)


def _read_number(name: str, value: Any) -> float:
    number = real_number(name, value)
    if math.isnan(number):
        raise ValueError(f"`{name}` must be a number, found NaN")
    return number


def _count(name: str, value: Any) -> int:
    try:
        count = index(value)
    except TypeError:
        raise TypeError(f"`{name}` must be an `int`, found `{short_repr(value)}`") from None
    if not 0 <= count < 2**32:
        raise OverflowError(f"`{name}` must be from 0 to 4294967295, found `{count}`")
    return count


def _is_jittered(jitter: Any) -> bool:
    if jitter is None or isinstance(jitter, bool):
        return jitter is not False
    if isinstance(jitter, int | float):
        message = "passing a float for jitter is deprecated, use a bool"
        warnings.warn(message, DeprecationWarning, stacklevel=3)
        return jitter != 0
    message = f"`jitter` must be a `bool`, found `{short_repr(jitter)}`; it is on"
    warnings.warn(message, UserWarning, stacklevel=3)
    return True


def _warn_of(older: str, name: str) -> None:
    message = f"{older} is deprecated, use {name}"
    warnings.warn(message, DeprecationWarning, stacklevel=3)
