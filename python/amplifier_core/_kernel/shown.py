"""Any value in one short line, for the text of an error, and any text without control of a terminal."""

from __future__ import annotations

from reprlib import Repr

_repr = Repr()
_repr.maxlevel = 4
_repr.maxstring = _repr.maxother = _repr.maxlong = 200
_repr.maxdict = _repr.maxlist = _repr.maxtuple = 20


def printable(text: str) -> str:
    """Write what could be more than a visible character as an escape, newlines too."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def short_repr(value: object) -> str:
    """Write a value as `repr` does, cut where it is long or deep; it never raises.

    What a foreign `__repr__` raises is replaced by the name of the type.
    """
    try:
        return _repr.repr(value)
    except Exception:  # noqa: BLE001 (a foreign `__repr__` or `__len__`)
        return f"<{type(value).__name__}>"
