"""How a test of the kit says what is wrong."""

from __future__ import annotations

import dataclasses
from typing import NoReturn

from amplifier_core import llm_errors
from amplifier_core.llm_errors import LLMError

from ..servers import Fault


def fail(text: str) -> NoReturn:
    """End a test with what is wrong."""
    raise AssertionError(text)


def write_fault(fault: Fault | None) -> str:
    """Return a fault with what it sets alone, for messages."""
    if fault is None:
        return "an answer that is whole"
    fields = (each.name for each in dataclasses.fields(fault))
    usual = Fault()
    given = {name: getattr(fault, name) for name in fields}
    set_ = [f"{name}={value!r}" for name, value in given.items() if value != getattr(usual, name)]
    return f"Fault({', '.join(set_)})"


def kernel_kind(error: LLMError) -> type[LLMError]:
    """Return the class of `amplifier_core.llm_errors` that an error is."""
    return next(kind for kind in type(error).__mro__ if kind.__module__ == llm_errors.__name__)
