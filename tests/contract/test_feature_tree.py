"""What the extension is built of: which features, and which crates never."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(program: str, *arguments: str) -> str:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    result = subprocess.run(
        [program, *arguments], cwd=ROOT, capture_output=True, text=True, check=False, timeout=110
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def features() -> dict[str, set[str]]:
    """The features of every crate that is built, also where several crates ask for them."""
    # Crates of other platforms may not have been downloaded.
    host = next(
        line.removeprefix("host: ")
        for line in run("rustc", "-vV").splitlines()
        if line.startswith("host: ")
    )
    options = ["--format-version=1", "--offline", "--locked", f"--filter-platform={host}"]
    metadata = json.loads(run("cargo", "metadata", *options))
    names = {package["id"]: package["name"] for package in metadata["packages"]}
    found: dict[str, set[str]] = {}
    for node in metadata["resolve"]["nodes"]:
        found.setdefault(names[node["id"]], set()).update(node["features"])
    return found


def test_floats_are_read_exactly_and_objects_keep_their_order(
    features: dict[str, set[str]],
) -> None:
    assert {"float_roundtrip", "preserve_order", "raw_value"} <= features["serde_json"]


def test_numbers_are_never_kept_as_text(features: dict[str, set[str]]) -> None:
    assert "arbitrary_precision" not in features["serde_json"]


def test_the_extension_needs_no_python_of_its_own_version(features: dict[str, set[str]]) -> None:
    assert "abi3-py311" in features["pyo3"]


def test_neither_a_runtime_nor_a_checker_of_threads_is_in_the_extension() -> None:
    options = ["--offline", "--locked", "--edges=normal,build", "--prefix=none"]
    tree = run("cargo", "tree", "--package=amplifier-python", *options)
    names = {line.split()[0] for line in tree.splitlines()}

    assert {"amplifier-core", "pyo3"} <= names
    assert not names & {"tokio", "loom", "shuttle", "proptest"}
