"""What the source distribution holds: all that the build needs, and nothing else.

`tests/proof/test_sdist.py` builds it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from email.parser import Parser
from pathlib import Path, PurePosixPath

import pytest

CHECKOUT = Path(__file__).resolve().parents[3]
ROOT_FILES = {"Cargo.lock", "Cargo.toml", "LICENSE", "PKG-INFO", "pyproject.toml"}
# The sources of the packages and of the crates, and the data that they include.
NEEDED = ("python/**/*", "crates/*/Cargo.toml", "crates/*/src/**/*")
NOT_SOURCES = {"__pycache__", ".so", ".pyd"}

pytestmark = [pytest.mark.timeout(1200), pytest.mark.xdist_group("wheel")]


@pytest.fixture(scope="module")
def unpacked(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (root,) = folder.iterdir()
    assert root.name == "amplifier_core-3.0.0"
    return root


def files(root: Path, *patterns: str) -> set[str]:
    """The sources below a folder, without what was built there."""
    return {
        path.relative_to(root).as_posix()
        for pattern in patterns
        for path in root.glob(pattern)
        if path.is_file() and not NOT_SOURCES & {path.suffix, path.parent.name}
    }


def test_the_source_distribution_holds_every_source(unpacked: Path) -> None:
    held = files(unpacked, "**/*")

    assert files(CHECKOUT, *NEEDED) - held == set()
    assert {path for path in held if "/" not in path} == ROOT_FILES
    assert {PurePosixPath(path).parts[0] for path in held - ROOT_FILES} == {"crates", "python"}
    assert all((unpacked / path).read_bytes() == (CHECKOUT / path).read_bytes()
               for path in files(CHECKOUT, *NEEDED) if not path.endswith("Cargo.toml"))  # fmt: skip


def test_its_crates_and_their_locked_dependencies_are_complete(unpacked: Path) -> None:
    command = ["cargo", "metadata", "--locked", "--no-deps", "--format-version", "1"]
    done = subprocess.run(command, cwd=unpacked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    packages = json.loads(done.stdout)["packages"]

    assert {package["name"] for package in packages} == {
        path.parent.name for path in CHECKOUT.glob("crates/*/Cargo.toml")
    }
    tree = ["cargo", "tree", "--locked", "--package", "amplifier-python", "--edges", "normal,build"]
    done = subprocess.run(tree, cwd=unpacked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_it_describes_itself_as_the_wheel_does(
    unpacked: Path, wheel_metadata: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "maturin", "pep517", "write-dist-info"]
    options = ["--metadata-directory", str(tmp_path), "--interpreter", sys.executable]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [*command, *options],
        cwd=unpacked,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (written,) = tmp_path.glob("*.dist-info/METADATA")

    assert written.read_text() == wheel_metadata
    assert (unpacked / "PKG-INFO").read_text() == wheel_metadata
    assert Parser().parsestr(wheel_metadata)["Name"] == "amplifier-core"
