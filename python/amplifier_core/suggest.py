"""What may be meant by a name that nobody knows."""

from __future__ import annotations

from collections.abc import Iterable


def suggest_or_list(name: str, known: Iterable[str]) -> str:
    """Suggest a known name for an unknown one, or list all of them."""
    from difflib import get_close_matches  # late: few programs have a mistake

    names = sorted(known)
    near = get_close_matches(name, names, n=1)
    if near:
        return f" (did you mean `{near[0]}`?)"
    return f" (known: {', '.join(f'`{each}`' for each in names)})"


def suggest_name(name: str, known: Iterable[str]) -> str:
    """Suggest a known name for an unknown one; empty if none is similar."""
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), n=1)
    return f"; did you mean `{near[0]}`?" if near else ""
