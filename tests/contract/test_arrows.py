"""Dependencies point one way: applications, modules, streams and guard, the kernel."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]

PACKAGES = {
    "amplifier_core": set[str](),
    "amplifier_stream": {"amplifier_core"},
    "amplifier_guard": {"amplifier_core"},
    "amplifier_modules": {"amplifier_core", "amplifier_stream", "amplifier_guard"},
    "amplifier_app": {
        "amplifier_core",
        "amplifier_stream",
        "amplifier_guard",
        "amplifier_modules",
    },
}
"""What each package may import of the others."""

TABLE = ("known_modules.py", "amplifier_modules")
"""The one arrow that points up: the kernel looks our own modules up in their table."""

CRATES = {
    "amplifier-core": set[str](),
    "amplifier-stream": {"amplifier-core"},
    "amplifier-guard": {"amplifier-core"},
    "amplifier-python": {"amplifier-core", "amplifier-stream", "amplifier-guard"},
}
"""What each crate may depend on of the others."""


def _sources(package: str) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted((CHECKOUT / "python" / package).rglob("*.py")):
        yield path, ast.parse(path.read_text(), path)


def _imported(tree: ast.Module) -> Iterator[str]:
    """The top-level packages that a module imports anywhere, also inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.partition(".")[0]


def _named(tree: ast.Module) -> Iterator[str]:
    """The packages of ours that a module could import by a name held in a string."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            package = node.value.partition(".")[0]
            if package in PACKAGES and node.value.replace(".", "_").isidentifier():
                yield package


def _crate(name: str) -> dict[str, dict[str, object]]:
    return tomllib.loads((CHECKOUT / "crates" / name / "Cargo.toml").read_text())


def _dependencies(manifest: dict[str, dict[str, object]]) -> set[str]:
    kinds = ("dependencies", "dev-dependencies", "build-dependencies")
    return {name for kind in kinds for name in manifest.get(kind, {})}


def test_every_package_and_every_crate_has_its_arrows() -> None:
    packages = {path.parent.name for path in (CHECKOUT / "python").glob("*/__init__.py")}
    crates = {path.parent.name for path in (CHECKOUT / "crates").glob("*/Cargo.toml")}

    assert packages == PACKAGES.keys()
    assert crates == CRATES.keys()


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_only_what_lies_below_it(package: str) -> None:
    others = PACKAGES.keys() - PACKAGES[package] - {package}
    wrong = [
        f"{path.relative_to(CHECKOUT)} imports `{name}`"
        for path, tree in _sources(package)
        for name in _imported(tree)
        if name in others and (path.name, name) != TABLE
    ]

    assert wrong == []


def test_the_kernel_names_one_package_above_it_in_one_place() -> None:
    above = PACKAGES.keys() - {"amplifier_core"}
    named = {
        (path.name, name)
        for path, tree in _sources("amplifier_core")
        for name in (*_imported(tree), *_named(tree))
        if name in above
    }

    assert named == {TABLE}


def test_the_kernel_needs_nothing_above_it_to_be_imported() -> None:
    above = PACKAGES.keys() - {"amplifier_core"}
    at_import = [
        f"{path.relative_to(CHECKOUT)} imports `{name}`"
        for path, tree in _sources("amplifier_core")
        for statement in tree.body
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for name in _imported(ast.Module([statement], []))
        if name in above
    ]

    assert at_import == []


@pytest.mark.parametrize("crate", CRATES)
def test_a_crate_depends_only_on_what_lies_below_it(crate: str) -> None:
    assert (_dependencies(_crate(crate)) & CRATES.keys()) <= CRATES[crate]


def test_one_crate_alone_knows_python() -> None:
    assert {crate for crate in CRATES if "pyo3" in _dependencies(_crate(crate))} == {
        "amplifier-python"
    }
