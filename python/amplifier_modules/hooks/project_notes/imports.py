"""The imports of a note: `@file` outside of code."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CODE = re.compile(r"^(```|~~~).*?(?:^\1|\Z)|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_IMPORT = re.compile(r"(?:^|(?<=\s))@([^\s@]+)")
_MAX_CHARS = 500


def list_imports(text: str) -> Iterator[str]:
    """Yield the paths that a note imports, each once, in their order."""
    seen = set[str]()
    for found in _IMPORT.finditer(_CODE.sub(" ", text)):
        path = found[1].rstrip(".,;:!?)'\"")
        if path and path not in seen and len(path) <= _MAX_CHARS:
            seen.add(path)
            yield path
