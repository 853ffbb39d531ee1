"""A keyring in a file, which can be locked, broken, silent or without a memory."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked


class FileKeyring(KeyringBackend):
    """Keeps its passwords in the file `KEYRING_FILE`, and does wrong what `KEYRING_FAULT` says."""

    priority = 1  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]

    def get_password(self, service: str, username: str) -> str | None:
        self._fail("")
        return self._read().get(f"{service}/{username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._fail(password)
        self._write({**self._read(), f"{service}/{username}": password})

    def delete_password(self, service: str, username: str) -> None:
        self._fail("")
        kept = self._read()
        del kept[f"{service}/{username}"]
        self._write(kept)

    def _fail(self, password: str) -> None:
        match os.environ.get("KEYRING_FAULT"):
            case "locked":
                raise KeyringLocked("Failed to unlock the collection!")
            case "broken":
                raise OSError(f"no bus for {password}\nat all")
            case "leaving":
                raise SystemExit(3)
            case "silent":
                threading.Event().wait()
            case _:
                pass

    def _read(self) -> dict[str, str]:
        path = Path(os.environ["KEYRING_FILE"])
        return json.loads(path.read_text()) if path.exists() else {}

    def _write(self, kept: dict[str, str]) -> None:
        Path(os.environ["KEYRING_FILE"]).write_text(json.dumps(kept))
