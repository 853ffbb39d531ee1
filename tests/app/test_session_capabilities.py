"""What modules find in a session of the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

# Takes the place of `tool-search`: tells what the redactor of the session makes of a text.
MODULE = """
from amplifier_core import ToolResult

__amplifier_module_type__ = "tool"

async def mount(coordinator, config=None):
    redactor = coordinator.get_capability("guard.redactor")

    class Tell:
        name = "tell"
        description = "tells"
        input_schema = {"type": "object"}

        async def execute(self, input):
            return ToolResult(output=redactor.redact(input["text"]))

    await coordinator.mount("tools", Tell(), name="tell")
"""

SITE = """
from amplifier_modules import MODULES

MODULES["tool-search"] = "telling_tool"
"""


# Holds: secret-9
def test_modules_find_the_redactor_that_knows_the_keys_of_the_command(
    keyed: Any, model: Any, tmp_path: Path
) -> None:
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "telling_tool.py").write_text(MODULE)
    (modules / "sitecustomize.py").write_text(SITE)
    keyed.environment["PYTHONPATH"] += f":{modules}"
    password = "correct horse battery staple"
    keyed.environment["SERVICE_PASSWORD"] = password
    text = f"a {password} b {keyed.environment['ANTHROPIC_API_KEY']} c"
    call = {"type": "tool_use", "id": "t1", "name": "tell", "input": {"text": text}}
    model.reply(*model.said(call, stop="tool_use"))
    model.reply(*model.said({"type": "text", "text": "done"}))

    done = keyed("run", "hello")

    assert done.returncode == 0, done.stderr
    [result] = model.requests[1]["messages"][-1]["content"]
    told = json.dumps(result["content"])
    assert password not in told
    assert keyed.environment["ANTHROPIC_API_KEY"] not in told
    assert told.count("[REDACTED:") == 2
