"""Trees of files, and why a tool has failed, for the tests of tools that change files."""

from __future__ import annotations

from pathlib import Path

from amplifier_core.models import ToolResult

Tree = dict[str, bytes]
"""Contents by path."""


def failure(result: ToolResult) -> tuple[str, str]:
    assert not result.success
    assert result.error is not None
    return result.error["type"], result.error["message"]


def write_tree(root: Path, tree: Tree) -> None:
    for name, content in tree.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)


def read_tree(root: Path) -> Tree:
    files = (path for path in sorted(root.rglob("*")) if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
