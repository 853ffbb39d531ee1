"""A request that was too long for the model is one plain line of the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

PROVIDER = """
from amplifier_core.llm_errors import ContextLengthError
from amplifier_providers.scripted import ScriptedProvider

async def mount(coordinator, config=None):
    read = {{"tool": "read_file", "arguments": {{"path": "long.txt"}}}}
    refusals = [ContextLengthError("too many tokens", provider="short") for _ in range({refusals})]
    provider = ScriptedProvider([*[read] * 8, *refusals, "It is long."])
    await coordinator.mount("providers", provider, name="short")
"""
TOLD = "the conversation was shortened to fit the model (about "


@pytest.mark.parametrize(("refusals", "code", "times"), [(1, 0, 1), (9, 1, 3)])
def test_a_request_that_was_too_long_is_told_in_one_line(
    command: Any, tmp_path: Path, refusals: int, code: int, times: int
) -> None:
    command.environment["PYTHONPATH"] += f":{tmp_path}"
    written = PROVIDER.format(refusals=refusals)
    (tmp_path / "amplifier_module_provider_short.py").write_text(written)
    (command.folder / "long.txt").write_text("a long line of text\n" * 500)

    done = command("run", "Read it", "--module", "provider-short")

    lines = (done.stdout + done.stderr).splitlines()
    assert done.returncode == code, done.stderr
    assert len([line for line in lines if TOLD in line]) == times
    assert "Traceback" not in done.stderr
    assert ("It is long." in done.stdout) == (code == 0)
    assert len([line for line in lines if "too many tokens" in line]) == code
