"""What a package keeps to itself no other one imports: names and modules that begin with `_`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from structure import CHECKOUT, PACKAGES

EXTENSION = "amplifier_core._engine"
EXEMPT = {("amplifier_stream", EXTENSION), ("amplifier_guard", EXTENSION)}
"""The packages that are the public surface of what the extension has for them."""

FILES = sorted(
    path for path in (CHECKOUT / "python").rglob("*.py*") if path.suffix in {".py", ".pyi"}
)


def _named(tree: ast.AST) -> Iterator[str]:
    """What a file names by its path: in imports anywhere, in chains of attributes, in strings."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                yield from (alias.name for alias in aliases)
            case ast.ImportFrom(module=str(module), names=aliases, level=0):
                yield from (f"{module}.{alias.name}" for alias in aliases)
            case ast.Attribute():
                yield ast.unparse(node)
            case ast.Constant(value=str(text)) if text.replace(".", "_").isidentifier():
                yield text
            case _:
                pass


def private_uses(package: str, tree: ast.AST) -> Iterator[str]:
    """What a file of a package names that another package keeps to itself."""
    for name in _named(tree):
        other, *parts = name.split(".")
        if other not in PACKAGES - {package}:
            continue
        first = next((part for part in parts if part[0] == "_" and part[:2] != "__"), None)
        if first is None:
            continue
        module = ".".join([other, *parts[: parts.index(first) + 1]])
        if (package, module) not in EXEMPT:
            yield name


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_no_package_uses_what_another_one_keeps_to_itself(package: str) -> None:
    files = [path for path in FILES if package in path.relative_to(CHECKOUT / "python").parts]
    found = [
        f"{path.relative_to(CHECKOUT)}: {name}"
        for path in files
        for name in private_uses(package, ast.parse(path.read_text()))
    ]

    assert files
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "from amplifier_core._kernel.payload import Payload",
        "from amplifier_core._kernel import payload",
        "from amplifier_core import _kernel",
        "from amplifier_core.loader import _private",
        "import amplifier_core._kernel",
        "def late():\n    from amplifier_core._loading.check import check_mount",
        "if TYPE_CHECKING:\n    from amplifier_core._engine import Walk",
        "import amplifier_core\namplifier_core._kernel.payload",
        "import_module('amplifier_core._kernel')",
    ],
)
def test_a_private_use_is_seen(text: str) -> None:
    assert list(private_uses("amplifier_agent", ast.parse(text)))


@pytest.mark.parametrize("package", ["amplifier_stream", "amplifier_guard"])
def test_the_packages_over_the_extension_may_draw_on_it(package: str) -> None:
    text = "from amplifier_core._engine import Walk\nfrom amplifier_core import __version__"

    assert not list(private_uses(package, ast.parse(text)))
    assert list(private_uses("amplifier_core", ast.parse("import amplifier_guard._clock")))
