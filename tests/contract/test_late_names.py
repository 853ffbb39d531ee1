"""Packages that import their names at their first use."""

from __future__ import annotations

import subprocess
import sys

import pytest

PACKAGES = ["amplifier_agent", "amplifier_guard", "amplifier_serve", "amplifier_stream"]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_can_be_imported_and_is_listed(package: str):
    program = (
        f"import {package} as it\n"
        "listed = dir(it)\n"
        "for name in it.__all__:\n"
        "    assert name in listed and getattr(it, name) is getattr(it, name), name\n"
        "assert not hasattr(it, 'no_such_name')\n"
        f"from {package} import *\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("first", ["guarded_call", "error_kind"])
def test_a_name_is_never_hidden_by_the_submodule_of_the_same_name(first: str):
    program = (
        f"import amplifier_guard.{first}\n"
        f"from amplifier_guard import {first}\n"
        f"assert callable({first}), {first}\n"
        f"from amplifier_guard.{first} import {first} as same\n"
        f"assert same is {first}\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("package", "submodule"), [("amplifier_guard", "path"), ("amplifier_stream", "tag")]
)
def test_submodules_are_there_after_a_bare_import(package: str, submodule: str):
    program = f"import {package}; assert {package}.{submodule}.__name__ == '{package}.{submodule}'"
    subprocess.run([sys.executable, "-c", program], check=True)
