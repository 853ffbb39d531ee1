"""What the packages import is declared, and what is declared is imported."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
PYTHON = CHECKOUT / "python"
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]

FOR_TESTS_OF_MODULES = {"hypothesis", "pytest", "pytest-asyncio", "trio"}
"""What the pytest plugin, the inheritable tests and the kit for providers import, which run in the
tests of modules."""


def name_of(requirement: str) -> str:
    """The normalized name of the distribution that a requirement asks for."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found is not None, requirement
    return re.sub(r"[._-]+", "-", found[0]).lower()


REQUIRED = {name_of(each) for each in PROJECT["dependencies"] if "sys_platform" not in each}
"""Without those of other systems, which are not installed here."""
OPTIONAL = {
    name_of(each)
    for extra in ("keyring", "mcp", "otel", "pdf", "signing", "web")
    for each in PROJECT["optional-dependencies"][extra]
}


def imported() -> Iterator[tuple[Path, str]]:
    """Every module that a file imports, with the names taken from it, as they may be modules."""
    ours = {path.parent.name for path in PYTHON.glob("*/__init__.py")} | sys.stdlib_module_names
    for path in sorted(PYTHON.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(), path)):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            else:
                continue
            for name in names:
                if name.partition(".")[0] not in ours:
                    yield path.relative_to(CHECKOUT), name


def providers() -> dict[str, set[str]]:
    """The distributions that hold each module, by its dotted name."""
    found: dict[str, set[str]] = {}
    for distribution in metadata.distributions():
        name = name_of(distribution.metadata["Name"])
        for file in distribution.files or ():
            if file.suffix in (".py", ".so", ".pyd"):
                parts = (*file.parts[:-1], file.name.partition(".")[0])
                found.setdefault(".".join(parts).removesuffix(".__init__"), set()).add(name)
    return found


PROVIDERS = providers()


def distributions_of(name: str) -> set[str]:
    """The distributions of a module, or of the one that an imported name comes from."""
    while name and name not in PROVIDERS:
        name = name.rpartition(".")[0]
    return PROVIDERS.get(name, set())


def test_what_is_imported_is_declared() -> None:
    declared = REQUIRED | OPTIONAL | FOR_TESTS_OF_MODULES
    undeclared = [
        f"{path} imports `{name}`"
        for path, name in imported()
        if not distributions_of(name) & declared
    ]

    assert undeclared == []


def test_what_is_declared_is_imported() -> None:
    used = {each for _, name in imported() for each in distributions_of(name)}

    assert (REQUIRED | OPTIONAL) - used == set()


def test_only_the_tests_of_modules_import_what_only_tests_need() -> None:
    importing = {path for path, name in imported() if distributions_of(name) & FOR_TESTS_OF_MODULES}
    kit = Path("python/amplifier_testing/kit")

    assert {path.parts[1] for path in importing if kit not in path.parents} == {"amplifier_core"}
    assert {name_of(each) for each in PROJECT["optional-dependencies"]["test"]} >= (
        FOR_TESTS_OF_MODULES
    )
