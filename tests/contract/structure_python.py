"""Which Python file uses which: every import, in functions and for type checkers included."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Module(NamedTuple):
    """One file that can be imported."""

    file: str
    is_package: bool
    imports: list[tuple[str, str | None, str]]
    """Module, the name taken from it if there is one, and the name it has here."""


def python_arrows(folder: Path) -> set[tuple[str, str]]:
    """List the arrows between the files below a folder of packages: user and used.

    A name that a package hands on leads to the file that defines it.
    """
    modules = dict(_modules(folder))
    return {
        (module.file, used)
        for module in modules.values()
        for name, attribute, _ in module.imports
        if (used := _definer(modules, name, attribute)) is not None and used != module.file
    }


def _modules(folder: Path) -> Iterator[tuple[str, Module]]:
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        found = list(_imports(ast.parse(path.read_text(), path), name, is_package))
        # The names of a lazy package are imports in its stub.
        stub = path.with_suffix(".pyi")
        if is_package and stub.exists():
            found += _imports(ast.parse(stub.read_text(), stub), name, is_package)
        file = path.relative_to(folder.parent).as_posix()
        yield name, Module(file, is_package, found)


def _imports(
    tree: ast.Module, module: str, is_package: bool
) -> Iterator[tuple[str, str | None, str]]:
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, None, alias.asname or alias.name
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                yield source, alias.name, alias.asname or alias.name
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            # A second name of an imported class, as stubs have them.
            for target in node.targets:
                if isinstance(target, ast.Name) and is_package:
                    yield module, node.value.id, target.id


def _definer(modules: dict[str, Module], name: str, attribute: str | None) -> str | None:
    """The file that defines an imported name; None if it is not among these."""
    seen: set[tuple[str, str | None]] = set()
    while (name, attribute) not in seen:
        seen.add((name, attribute))
        module = modules.get(name)
        if attribute is None:
            return None if module is None else module.file
        handed_on = _handed_on(module, attribute)
        if handed_on is not None:
            name, attribute = handed_on
        elif f"{name}.{attribute}" in modules:
            name, attribute = f"{name}.{attribute}", None
        else:
            return None if module is None else module.file
    return None


def _handed_on(module: Module | None, name: str) -> tuple[str, str | None] | None:
    """Where a package has a name from that it hands on."""
    if module is None or not module.is_package:
        return None
    found = ((source, attribute) for source, attribute, alias in module.imports if alias == name)
    return next(found, None)
