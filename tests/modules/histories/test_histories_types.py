"""Only the repair makes what an encoder takes: a type checker refuses all else."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]
UNCHECKED = Path(__file__).with_name("unchecked.py")
REPAIR = ROOT / "python/amplifier_providers/wire/history.py"
_IGNORED = re.compile(r"  # pyright: ignore\[(\w+)\]")


# Holds: provider-6
def test_unchecked_messages_are_refused_by_the_type_checker_of_make_check() -> None:
    """An ignored error that is none is an error there: each of these lines is refused as it says."""
    program = UNCHECKED.read_text()
    pyright = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pyright"]
    assert UNCHECKED.relative_to(ROOT).as_posix() in pyright["include"]
    assert pyright["typeCheckingMode"] == "strict"
    assert "# pyright: reportUnnecessaryTypeIgnoreComment=true\n" in program
    assert len(_IGNORED.findall(program)) > 10
    assert len(re.findall("ignore", program)) == len(_IGNORED.findall(program))


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
