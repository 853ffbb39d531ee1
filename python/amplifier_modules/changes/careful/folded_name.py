"""Names as the most lenient file system reads them."""

from __future__ import annotations

import unicodedata


def fold_name(name: str) -> str:
    """Return a name without what such a file system ignores.

    That is case, wide forms, invisible characters, what follows a colon, dots and spaces at the end.
    """
    if not name.isascii():
        plain = unicodedata.normalize("NFKC", name)
        name = "".join(one for one in plain if unicodedata.category(one) != "Cf")
    return name.lower().partition(":")[0].rstrip(". ")
