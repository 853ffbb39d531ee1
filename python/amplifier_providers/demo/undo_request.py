"""A request to take back what was done: `undo that`."""

from __future__ import annotations

import re

from .edit_request import LIMITED, POLITE

_MAX_CHARS = 200
_DID = r"(?:did|done|changed|wrote|written|added|made)"
_WHAT = (
    r"(?:(?:that|it|this|them|these|those|everything|all)(?:\s+(?:of\s+(?:that|it|them)|again))?"
    rf"|what\s+you(?:'ve|\s+have)?\s+(?:just\s+|last\s+)?{_DID}(?:\s+last)?"
    r"|(?:(?:all|of|the|your|that|those|these|last|latest|previous|recent)\s+)+"
    rf"(?:change|edit|step|turn|file|function|test|addition)s?(?:\s+you\s+(?:just\s+)?{_DID})?)"
)
_END = r"(?:[\s,]+(?:again|now|please|for\s+me))*[\s.,!?]*"
_FORMS = [
    re.compile(POLITE + form + _END, re.IGNORECASE)
    for form in (
        rf"(?:undo|revert|reverse|roll\s+back|rollback|take\s+back)(?:\s+{_WHAT})?",
        rf"(?:take|roll)\s+{_WHAT}\s+back",
    )
]


def asks_to_undo(prompt: str) -> bool:
    """Whether the first line of a prompt asks to take back what was done last."""
    line = prompt.strip().partition("\n")[0]
    if len(line) > _MAX_CHARS or LIMITED.search(line):
        return False
    return any(form.fullmatch(line) for form in _FORMS)
