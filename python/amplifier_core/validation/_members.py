"""Checks of an object's members, without calling any."""

from __future__ import annotations

import inspect
from typing import Any

from amplifier_core._loading.check import is_async
from amplifier_core.error_messages import describe_failure, short_repr

from .base import Severity, ValidationResult

_ANY = (inspect.Parameter.VAR_POSITIONAL,)


def parameter_count(function: Any) -> int | None:
    """Count the parameters of a function; None if any number of arguments fits."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind in _ANY for parameter in parameters):
        return None
    return len(parameters)


def check_text(
    result: ValidationResult, check: str, owner: str, instance: Any, severity: Severity
) -> None:
    """Check that a member is a text that is not empty; its name is the end of the check's."""
    member = check.rpartition("_")[2]
    try:
        value = getattr(instance, member, None)
    except Exception as error:  # noqa: BLE001 (a foreign property)
        result.note(check, False, f"{owner}.{member} raised {describe_failure(error)}", severity)
        return
    if isinstance(value, str) and value:
        result.note(check, True, f"{owner}.{member} is {short_repr(value)}")
    else:
        found = "nothing" if value is None else short_repr(value)
        message = f"{owner}.{member} should be a non-empty string, found {found}"
        result.note(check, False, message, severity)


def check_coroutine(
    result: ValidationResult, check: str, owner: str, instance: Any, member: str, expected: str
) -> None:
    """Check that a method is async and takes some parameters.

    Args:
        result: Where the check is noted.
        check: Its name.
        owner: Name of the protocol.
        instance: Object with the method.
        member: Name of the method.
        expected: Names of the parameters, separated by commas; empty for none.
    """
    method = getattr(instance, member, None)
    name = f"{owner}.{member}()"
    if not callable(method):
        result.note(check, False, f"{name} should be a method")
        return
    if not is_async(method):
        result.note(check, False, f"{name} should be async")
        return
    least = len(expected.split(",")) if expected else 0
    found = parameter_count(method)
    if found is not None and found < least:
        message = f"{name} should accept ({expected}), found {found} parameters"
        result.note(check, False, message)
        return
    result.note(check, True, f"{name} is async with the right parameters")
