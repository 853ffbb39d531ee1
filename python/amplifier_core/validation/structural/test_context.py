"""Whether a module is a context, by its structure."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core.validation.context import ContextValidator


class ContextStructuralTests:
    """Inherit this in a class `Test...` of a context module's tests."""

    @pytest.mark.asyncio
    async def test_structural_validation(
        self, module_path: Path | None, module_type: str | None
    ) -> None:
        """The validator finds nothing wrong."""
        if module_path is None or module_type not in (None, "context"):
            pytest.skip("no context module was found; name one with `--module-path`")
        result = await ContextValidator().validate(module_path)
        failures = [f"{check.name}: {check.message}" for check in result.errors]
        assert failures == [], result.summary()


class TestContextStructure(ContextStructuralTests):
    """The same test, for running this file on a module."""
