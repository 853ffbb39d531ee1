"""Decisions at the sinks, and what is done about failures."""

try:
    from amplifier_guard.breaker import CircuitBreaker, CircuitOpen
    from amplifier_guard.error_context import ErrorContext, PastOperation
    from amplifier_guard.error_handler import ErrorHandler, GiveUp, Retry
    from amplifier_guard.error_kind import ErrorKind, error_kind
    from amplifier_guard.guarded_call import guarded_call
    from amplifier_guard.path import NotText, PathDenied, PathPolicy
    from amplifier_guard.rate import Rate, RateLimited, RateLimiter
except ModuleNotFoundError as error:
    if error.name != "amplifier_core._engine":
        raise
    message = (
        "`amplifier_guard` needs the extension `amplifier_core._engine`, which is missing here"
    )
    raise ModuleNotFoundError(message, name=error.name) from None

__all__ = [
    "CircuitBreaker",
    "CircuitOpen",
    "ErrorContext",
    "ErrorHandler",
    "ErrorKind",
    "GiveUp",
    "NotText",
    "PastOperation",
    "PathDenied",
    "PathPolicy",
    "Rate",
    "RateLimited",
    "RateLimiter",
    "Retry",
    "error_kind",
    "guarded_call",
]
