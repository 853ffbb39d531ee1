"""Dependencies point one way, where import-linter does not see it: crates, names, crowded folders."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import structure
from structure import CHECKOUT, LINTED, PACKAGES, House, read_house

TABLE = ("python/amplifier_core/known_modules.py", "amplifier_modules")
"""The one arrow that points up: the kernel looks our own modules up in their table."""

CRATES = {
    "amplifier-core": set[str](),
    "amplifier-stream": {"amplifier-core"},
    "amplifier-guard": {"amplifier-core"},
    "amplifier-sandbox": set[str](),
    "amplifier-changes": set[str](),
    "amplifier-python": {
        "amplifier-core",
        "amplifier-stream",
        "amplifier-guard",
        "amplifier-sandbox",
        "amplifier-changes",
    },
}
"""What each crate may depend on of the others."""


@cache
def checkout() -> House:
    """The structure of this checkout."""
    return read_house(CHECKOUT)


def _sources(package: str) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted((CHECKOUT / "python" / package).rglob("*.py")):
        yield path, ast.parse(path.read_text(), path)


def _imported(tree: ast.AST) -> Iterator[str]:
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


def test_every_package_and_every_crate_has_its_place() -> None:
    packages = {path.parent.name for path in (CHECKOUT / "python").glob("*/__init__.py")}
    crates = {path.parent.name for path in (CHECKOUT / "crates").glob("*/Cargo.toml")}

    layers = " | ".join(LINTED["contracts"][0]["layers"]).split(" | ")
    assert packages == PACKAGES == set(layers)
    assert len(layers) == len(PACKAGES)
    assert crates == CRATES.keys()


def test_the_kernel_names_one_package_above_it_in_one_place() -> None:
    above = PACKAGES - {"amplifier_core"}
    named = {
        (path.relative_to(CHECKOUT).as_posix(), name)
        for path, tree in _sources("amplifier_core")
        for name in (*_imported(tree), *_named(tree))
        if name in above
    }

    assert named == {TABLE}


def test_the_kernel_needs_nothing_above_it_to_be_imported() -> None:
    above = PACKAGES - {"amplifier_core"}
    at_import = [
        f"{path.relative_to(CHECKOUT)} imports `{name}`"
        for path, tree in _sources("amplifier_core")
        for statement in tree.body
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for name in _imported(statement)
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


def test_no_source_file_of_a_crate_takes_in_a_file_of_the_tests() -> None:
    sources = sorted((CHECKOUT / "crates").glob("*/src/**/*.rs"))
    taken = re.compile(r"""#\[path\b|\binclude(?:_str|_bytes)?!\s*\([^)]*\btests\b""")

    assert sources
    assert [str(each) for each in sources if taken.search(each.read_text())] == []


def test_no_folder_is_crowded() -> None:
    assert checkout().crowded() == {}


def test_no_files_of_a_crate_form_a_circle() -> None:
    assert checkout().circles() == []


def house(tmp_path: Path, **sources: str) -> House:
    """The structure of a small checkout: `a__b` stands for the path `a/b`."""
    for name, text in sources.items():
        path = tmp_path / name.replace("__", "/").replace("_py", ".py").replace("_rs", ".rs")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for package in (tmp_path / "python").glob("**"):
        if package != tmp_path / "python" and package.is_dir():
            (package / "__init__.py").touch()
    return read_house(tmp_path)


def test_a_crowded_folder_is_seen(tmp_path: Path) -> None:
    names = [f"python/package/{number}.py" for number in range(structure.MAX_FILES)]
    names += [f"python/amplifier_core/{number}.py" for number in range(50)]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    # The `__init__` is one too many; the root of the kernel's names may have any number.
    assert house(tmp_path).crowded() == {"python/package": structure.MAX_FILES + 1}


LIB = "mod a;\nmod b;\npub use a::A;\n"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("use crate::b::B;\npub struct A(B);", "use crate::A;\npub struct B(A);"),
        ("use super::b;\npub struct A(b::B);", "pub struct B;\nfn f(a: crate::a::A) {}"),
        (
            'pub struct A; fn f() { use crate::b::{g, B as C}; g("}") }',
            "use super::{a::A as D};\npub struct B(D);\npub fn g(_: &str) {}",
        ),
    ],
)
def test_a_circle_of_rust_files_is_seen(a: str, b: str, tmp_path: Path) -> None:
    found = house(
        tmp_path,
        crates__x__src__lib_rs=LIB,
        crates__x__src__a_rs=a,
        crates__x__src__b_rs=b,
    )

    assert found.circles() == [["crates/x/src/a.rs", "crates/x/src/b.rs"]]


@pytest.mark.parametrize(
    "b",
    [
        "// use crate::a::A;\npub struct B;",
        'pub struct B; const TEXT: &str = "crate::a::A";',
        "pub struct B;\n#[cfg(test)]\nmod tests { use crate::a::A; }",
        "pub struct B;\n#[cfg(test)]\nuse crate::a::A;\n",
        "pub use crate::a::A;\npub struct B;",
        "pub struct B; fn f() -> impl Sized + use<> { a::A }",
    ],
)
def test_what_is_no_use_of_another_rust_file_is_none(b: str, tmp_path: Path) -> None:
    found = house(
        tmp_path,
        crates__x__src__lib_rs=LIB,
        crates__x__src__a_rs="use crate::b::B;\npub struct A(B);",
        crates__x__src__b_rs=b,
    )

    assert found.arrows == {("crates/x/src/a.rs", "crates/x/src/b.rs")}


def test_a_rust_module_and_its_parts_are_one_system(tmp_path: Path) -> None:
    found = house(
        tmp_path,
        crates__x__src__lib_rs="mod a;",
        crates__x__src__a_rs="mod part;\nuse part::Part;\npub struct A(Part);",
        crates__x__src__a__part_rs="use super::A;\npub struct Part;\nfn f(_: A) {}",
    )

    assert found.arrows == {("crates/x/src/a.rs", "crates/x/src/a/part.rs")}


def test_the_figures_of_a_checkout_are_printed(tmp_path: Path) -> None:
    house(tmp_path, python__package__a_py="import package.b\n\n", python__package__b_py="")

    assert structure.report(tmp_path).splitlines() == [
        "files  median lines  room",
        "    3             0  python/package",
        "",
        "3 files, 2 lines, 0 arrows of Rust",
        "0 circles of files of Rust",
        "0 folders with more than 30 files",
    ]
