"""The list of modules that `amplifier-core list-modules` shows."""

from __future__ import annotations

from collections.abc import Iterator

from amplifier_app.printable import printable_line
from amplifier_core.known_modules import Source, guess_kind, list_known_sources

from .module_summary import summary_of

_MAX_LINE_CHARS = 120


def module_lines() -> Iterator[str]:
    """Describe each module that a mount plan can name.

    A line with its type and where it comes from, one with what it is, if it says so, and one for
    each module that it hides.
    """
    found = {
        printable_line(name): (name, sources) for name, sources in list_known_sources().items()
    }
    width = max(map(len, found), default=0)
    for shown, (module_id, (taken, *hidden)) in found.items():
        summary = summary_of(taken)
        kind = summary.kind or guess_kind(module_id)
        yield f"{shown:{width}}  {kind:12}  {_describe_source(taken)}"
        if summary.line:
            yield f"    {printable_line(summary.line, _MAX_LINE_CHARS)}"
        for source in hidden:
            yield f"    hides {_describe_source(source)}"


def _describe_source(source: Source) -> str:
    place = f" ({source.place})" if source.place else ""
    return f"{source.origin}: {printable_line(source.name + place)}"
