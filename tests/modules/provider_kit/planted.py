"""Providers with one fault each, by what is wrong with them, and the test of the kit that must find it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tiny_history import History
from tiny_provider import TinyProvider


@dataclass(frozen=True)
class Fault:
    """A provider with a fault, the test that finds it, and what that says."""

    provider: Any
    test: str
    says: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


FAULTS: dict[str, Fault] = {}


def found_by(test: str, says: str, **arguments: Any) -> Any:
    """Enter a faulty provider into the table, by the words of its docstring."""

    def enter(provider: type[TinyProvider]) -> type[TinyProvider]:
        name = (provider.__doc__ or "").rstrip(".").lower()
        FAULTS[name] = Fault(provider, f"test_{test}", says, arguments)
        return provider

    return enter


def with_history(history: type[History]) -> Any:
    """Let a provider encode with a faulty history."""

    def change(provider: type[TinyProvider]) -> type[TinyProvider]:
        vars_ = {"new_history": lambda self: history(self.name), "__doc__": provider.__doc__}
        return type(provider.__name__, (provider,), vars_)

    return change
