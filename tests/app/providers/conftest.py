"""The command with a keyring of its own, in a file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

BACKEND = Path(__file__).parent / "backend"


@dataclass
class Ring:
    """What the keyring of the command holds."""

    command: Any
    file: Path

    @property
    def keys(self) -> dict[str, str]:
        """The keys, by the names of their providers."""
        kept = json.loads(self.file.read_text()) if self.file.exists() else {}
        return {name.removeprefix("amplifier-core/"): key for name, key in kept.items()}

    def keep(self, **keys: str) -> None:
        """Put keys into it."""
        kept = {f"amplifier-core/{name}": key for name, key in {**self.keys, **keys}.items()}
        self.file.write_text(json.dumps(kept))

    def fail(self, how: str) -> None:
        """Have it fail from now on."""
        self.command.environment["KEYRING_FAULT"] = how


@pytest.fixture
def ring(command: Any, tmp_path: Path) -> Ring:
    """The keyring of the command."""
    file = tmp_path / "keyring.json"
    environment = command.environment
    environment["PYTHONPATH"] = f"{BACKEND}:{environment['PYTHONPATH']}"
    environment["PYTHON_KEYRING_BACKEND"] = "file_keyring.FileKeyring"
    environment["KEYRING_FILE"] = str(file)
    return Ring(command, file)
