"""The wheel and the source distribution, and the wheel as a user gets it.

That is in a new virtual environment, with no Rust anywhere on `PATH`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).resolve().parents[3]
# They build Rust from nothing, or drive programs of npm: `make prove` runs them.
collect_ignore = [] if os.environ.get("PROVE") else ["test_sdist_build.py", "test_wheel_servers.py"]
RUST = ("cargo", "maturin", "rustc", "rustup")


def environment(**variables: str) -> dict[str, str]:
    """This environment without Rust, and without anything that leads back to the checkout."""
    folders = os.environ["PATH"].split(os.pathsep)
    path = os.pathsep.join(
        f for f in folders if not any(shutil.which(tool, path=f) for tool in RUST)
    )
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(
            ("AMPLIFIER_", "ANTHROPIC_", "CARGO", "MAKE", "PYTEST_", "PYTHON", "VIRTUAL_")
        )
    }
    return kept | {"PATH": path} | variables


@dataclass(frozen=True)
class Installed:
    """A virtual environment that holds the wheel and what it requires."""

    python: Path

    def call(
        self, *command: str | Path, folder: Path, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, the first word a name in its `bin`."""
        name, *arguments = command
        return subprocess.run(
            [self.python.with_name(str(name)), *arguments],
            check=False,
            capture_output=True,
            text=True,
            cwd=folder,
            env=environment(**variables),
        )

    def run(
        self, program: str, folder: Path, *options: str, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a program as a file of its own in a folder, any warning an error by default."""
        script = folder / "program.py"
        script.write_text(program)
        return self.call(
            "python", *(options or ("-W", "error")), script, folder=folder, **variables
        )

    def printed(self, program: str, folder: Path, *options: str, **variables: str) -> Any:
        """What a program prints as JSON, and nothing else."""
        done = self.run(program, folder, *options, **variables)
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)

    def extension(self) -> Path:
        """The file of the extension."""
        (found,) = self.python.parents[1].glob(
            "lib/python*/site-packages/amplifier_core/_engine*.so"
        )
        return found


def built(target: str, variable: str, pattern: str) -> Path:
    """A file of `dist`: the one that `make` has just built, else a new one."""
    if given := os.environ.get(variable):
        return CHECKOUT / given
    subprocess.run(["make", "--silent", target], cwd=CHECKOUT, check=True)
    (found,) = (CHECKOUT / "dist").glob(pattern)
    return found


@pytest.fixture(scope="session")
def wheel() -> Path:
    """The wheel of this checkout."""
    return built("wheel", "AMPLIFIER_WHEEL", "*.whl")


@pytest.fixture(scope="session")
def sdist() -> Path:
    """The source distribution of this checkout."""
    return built("sdist", "AMPLIFIER_SDIST", "*.tar.gz")


@pytest.fixture(scope="session")
def wheel_metadata(wheel: Path) -> str:
    """What the wheel says about itself."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.read("amplifier_core-3.0.0.dist-info/METADATA").decode()


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """A new virtual environment, with pip and nothing else."""
    folder = tmp_path_factory.mktemp("user") / "venv"
    venv.create(folder, with_pip=True, symlinks=os.name != "nt")
    return Installed(folder / "bin" / "python")


@pytest.fixture(scope="session")
def installed(wheel: Path, empty: Installed) -> Installed:
    """The wheel in a new virtual environment."""
    folder, made = empty.python.parents[1], empty
    without_rust = environment()
    assert [tool for tool in RUST if shutil.which(tool, path=without_rust["PATH"])] == []
    done = made.call("python", "-m", "pip", "install", "--quiet", wheel, folder=folder)
    assert done.returncode == 0, done.stderr
    return made
