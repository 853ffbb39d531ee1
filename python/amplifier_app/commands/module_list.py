"""The list of modules that `amplifier-core list-modules` shows."""

from __future__ import annotations

from collections.abc import Iterator

from amplifier_app.printable import printable_line
from amplifier_core._loading.info import guess_kind
from amplifier_core._loading.known_modules import Source, known_sources


def module_lines() -> Iterator[str]:
    """Describe each module that a mount plan can name, and what is hidden by it, a line each."""
    found = {printable_line(name): (name, sources) for name, sources in known_sources().items()}
    width = max(map(len, found), default=0)
    for shown, (module_id, (taken, *hidden)) in found.items():
        yield f"{shown:{width}}  {guess_kind(module_id):12}  {_described(taken)}"
        for source in hidden:
            yield f"{'':{width}}  {'':12}  hides {_described(source)}"


def _described(source: Source) -> str:
    place = f" ({source.place})" if source.place else ""
    return f"{source.origin}: {printable_line(source.name + place)}"
