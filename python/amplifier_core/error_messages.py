"""What errors say: any value in one short line, and a failure with its cause and its place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from reprlib import Repr

_repr = Repr()
_repr.maxlevel = 4
_repr.maxstring = _repr.maxother = _repr.maxlong = 200
_repr.maxdict = _repr.maxlist = _repr.maxtuple = 20


def escape_unprintable(text: str) -> str:
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


def causes(error: BaseException) -> Iterator[BaseException]:
    """Walk from an error to what caused it, that one's cause, and so on."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        hidden = current.__suppress_context__
        current = current.__cause__ or (None if hidden else current.__context__)


def error_text(error: BaseException) -> str:
    """Return an error's text; its repr if `str` fails."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 (whatever a foreign `__str__` raises)
        return repr(error)


def _find_place(error: BaseException) -> str:
    """Where an error was raised, `file:line`, the import machinery left out.

    For a syntax error, the line that has it.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno or 1}"
    place = ""
    traceback = error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith("<frozen importlib") and not file.endswith("importlib/__init__.py"):
            place = f"{file}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return place


def _write_without_place(error: BaseException) -> str:
    """An error's text; that of a syntax error without its place, which `_find_place` tells in full."""
    return str(error.msg or "") if isinstance(error, SyntaxError) else error_text(error)


def _describe(error: BaseException) -> str:
    text = _write_without_place(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def describe_failure(error: BaseException) -> str:
    """Tell an error together with the innermost cause and the place that it was raised at."""
    *_, innermost = causes(error)
    place = _find_place(innermost)
    at = f" (at {place})" if place else ""
    if innermost is error:
        return _describe(error) + at
    return f"{_describe(error)}, caused by {_describe(innermost)}{at}"


def missing_package(error: BaseException) -> str | None:
    """Say which package an import needs and what to install; None if it failed for another reason.

    A package that lacks a part of its own is broken, not missing.
    """
    *_, innermost = causes(error)
    if not isinstance(innermost, ModuleNotFoundError) or not innermost.name:
        return None
    from importlib.util import find_spec  # late: few programs lack a package

    package = innermost.name.partition(".")[0]
    if innermost.name != package and find_spec(package) is not None:
        return None
    return f"the package `{package}` is missing: `pip install {package.replace('_', '-')}`"


def failure_text(error: BaseException) -> str:
    """Return an error's text with its hint; for a failed import also with the innermost cause."""
    text = describe_failure(error) if isinstance(error, SyntaxError) else error_text(error)
    *_, innermost = causes(error)
    if isinstance(error, ImportError) and _write_without_place(innermost) not in text:
        at = f" (at {_find_place(innermost)})" if isinstance(innermost, SyntaxError) else ""
        text = f"{text}, caused by {_describe(innermost)}{at}"
    return add_hint(text, error)


def add_hint(text: str, error: BaseException) -> str:
    """Return a text about an error, with the error's `hint` where the text does not have it."""
    hint: object = None
    with suppress(Exception):  # a foreign attribute may be a property that raises
        hint = getattr(error, "hint", None)
    if isinstance(error, ImportError) and not hint:
        hint = missing_package(error)
    if not isinstance(hint, str) or not hint or hint in text:
        return text
    return f"{text}; {hint}"
