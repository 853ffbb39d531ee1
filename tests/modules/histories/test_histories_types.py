"""Only the repair makes what an encoder takes: a type checker refuses all else."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
UNCHECKED = Path(__file__).with_name("unchecked.py")
REPAIR = ROOT / "python/amplifier_providers/wire/history.py"
_IGNORED = re.compile(r"  # pyright: ignore\[(\w+)\]")


# Holds: provider-6
@pytest.mark.skipif(find_spec("pyright") is None, reason="pyright is not installed")
def test_unchecked_messages_are_refused_by_the_type_checker(tmp_path: Path) -> None:
    program = UNCHECKED.read_text()
    expected = {
        (number, found[1])
        for number, line in enumerate(program.splitlines(), 1)
        if (found := _IGNORED.search(line))
    }
    (tmp_path / "unchecked.py").write_text(_IGNORED.sub("", program))
    settings = {"typeCheckingMode": "strict", "extraPaths": [str(ROOT / "python")]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    run = subprocess.run(
        [*command, "--project", str(tmp_path)], capture_output=True, text=True, check=False
    )
    problems = json.loads(run.stdout)["generalDiagnostics"]
    found = {(each["range"]["start"]["line"] + 1, each.get("rule")) for each in problems}
    assert found == expected
    assert len(expected) > 10


def test_only_the_repair_makes_a_checked_history() -> None:
    makers = {
        (path, node.func.id)
        for path in (ROOT / "python").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"CheckedHistory", "_Checked"}
    }
    assert makers == {(REPAIR, "CheckedHistory"), (REPAIR, "_Checked")}
