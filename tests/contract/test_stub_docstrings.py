"""The stub of the extension documents the classes of the guard with their own docstrings."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import amplifier_guard
from amplifier_core import _engine

STUB = Path(_engine.__file__ or "").with_name("_engine.pyi")


def exported() -> set[str]:
    """The names of the extension that `amplifier_guard` exports as they are."""
    names = amplifier_guard.__all__
    return {name for name in names if getattr(amplifier_guard, name).__module__ == _engine.__name__}


def written(body: list[ast.stmt], place: str = "") -> Iterator[tuple[str, str | None]]:
    """The docstrings of a stub by the name of what they are of."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("__"):
            yield f"{place}{node.name}", ast.get_docstring(node)
            if isinstance(node, ast.ClassDef):
                yield from written(node.body, f"{node.name}.")


def test_the_stub_says_what_the_docstrings_of_the_guard_say() -> None:
    of_stub = {
        name: text
        for name, text in written(ast.parse(STUB.read_text()).body)
        if name.partition(".")[0] in exported()
    }
    of_runtime = {
        name: inspect.getdoc(getattr(owner, member) if member else owner)
        for name in of_stub
        for place, _, member in [name.partition(".")]
        for owner in [getattr(_engine, place)]
    }
    assert of_stub == of_runtime
    assert {"MessageProcessor.process", "Redactor.redact_log", "error_kind"} <= of_stub.keys()
