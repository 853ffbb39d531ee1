"""The names of capabilities, which applications import from where they are used."""

from __future__ import annotations

import importlib

import pytest


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        ("amplifier_modules.hooks.guard", "LIMITER", "guard.rate_limiter"),
        ("amplifier_modules.hooks.observe", "CAPABILITY", "observe.session"),
        ("amplifier_modules.hooks.observe", "REDACTOR", "guard.redactor"),
        ("amplifier_stream.process_metrics", "CAPABILITY", "stream.metrics"),
    ],
)
def test_a_public_module_has_the_names_of_its_capabilities(
    module: str, name: str, value: str
) -> None:
    assert getattr(importlib.import_module(module), name) == value
