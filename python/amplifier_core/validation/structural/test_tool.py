"""Whether a module is a tool, by its structure."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core.validation.tool import ToolValidator


class ToolStructuralTests:
    """Inherit this in a class `Test...` of a tool module's tests."""

    @pytest.mark.asyncio
    async def test_structural_validation(
        self, module_path: Path | None, module_type: str | None
    ) -> None:
        """The validator finds nothing wrong."""
        if module_path is None or module_type not in (None, "tool"):
            pytest.skip("no tool module was found; name one with `--module-path`")
        result = await ToolValidator().validate(module_path)
        failures = [f"{check.name}: {check.message}" for check in result.errors]
        assert failures == [], result.summary()


class TestToolStructure(ToolStructuralTests):
    """The same test, for running this file on a module."""
