"""Copy a wheel, with an SBOM that names no folder of the machine that built it.

Maturin identifies the crates of the workspace by where they lie on the builder's disk. In the copy they
are relative to the root of the source: `path+file:///crates/amplifier-core#3.0.0`.
"""

from __future__ import annotations

import base64
import hashlib
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def copy_wheel(wheel: Path, folder: Path) -> Path:
    """Copy a wheel into a folder, and return the path of the copy."""
    copy = folder / wheel.name
    with zipfile.ZipFile(wheel) as source:
        contents = {entry: source.read(entry) for entry in source.infolist()}
    # `RECORD` comes last, as it lists the digest of each of the others.
    rows: dict[str, str] = {}
    with zipfile.ZipFile(copy, "w") as target:
        for entry, content in contents.items():
            if "/sboms/" in entry.filename:
                relative = content.replace(ROOT.as_uri().encode(), b"file://")
                rows[row_of(entry.filename, content)] = row_of(entry.filename, relative)
                content = relative
            elif entry.filename.endswith(".dist-info/RECORD"):
                content = replace_rows(content, rows)
            target.writestr(entry, content, compresslevel=9)
    return copy


def row_of(name: str, content: bytes) -> str:
    """Return the row of a file in `RECORD`."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}"


def replace_rows(record: bytes, rows: dict[str, str]) -> bytes:
    """Return `RECORD` with these rows instead of those.

    Raises:
        ValueError: A row is not there.
    """
    lines = record.decode().splitlines()
    if missing := rows.keys() - set(lines):
        raise ValueError(f"`RECORD` lacks {sorted(missing)}")
    return "".join(f"{rows.get(line, line)}\n" for line in lines).encode()


if __name__ == "__main__":
    copy_wheel(Path(sys.argv[1]), Path(sys.argv[2]))
