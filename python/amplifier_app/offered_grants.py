"""What a person in the terminal may grant beyond a call: the words for it, and a rule to change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from amplifier_core.approval import ASKED_CALL, CONSENT, SESSION_GRANT, AskedCall

_SESSION, _RULE = ("a", "s", "session"), ("p", "pattern", "rule")
_EACH, _HUNKS = ("e", "each"), ("h", "hunks")
_DENY = ("n", "no", "deny")


def describe_offer() -> str:
    """Return the row about what may be granted beyond the call that is asked about; may be empty."""
    from amplifier_guard.question import quote_value

    call = ASKED_CALL.get()
    words: list[str] = []
    if call is not None and call.offer.for_session:
        words.append(f"a for {quote_value(call.offer.name or call.tool_name)} in this session")
    if call is not None and call.offer.rule is not None:
        words.append(f"p for a rule such as {quote_value(call.offer.rule)}")
    if call is not None and call.parts:
        units = list_units(call)
        count = f"{len(units)}" if len(units) > 1 else f"{len(units[0].hunks)} hunks"
        return f"y for all {count}, or e to be asked about each"
    return f"y once, or {', or '.join(words)}" if words else ""


def wants_session(line: str) -> bool:
    """Whether an answer grants the tool in this session, where that is offered."""
    call = ASKED_CALL.get()
    return call is not None and call.offer.for_session and _read_word(line) in _SESSION


def wants_rule(line: str) -> AskedCall | None:
    """Return the call if an answer asks for a rule about it, where that is offered; else None."""
    call = ASKED_CALL.get()
    is_wanted = call is not None and call.offer.rule is not None and _read_word(line) in _RULE
    return call if is_wanted else None


def wants_each(line: str) -> AskedCall | None:
    """Return the call if an answer asks to be asked about each of its parts; else None."""
    call = ASKED_CALL.get()
    is_wanted = call is not None and call.parts and _read_word(line) in _EACH
    return call if is_wanted else None


@dataclass(frozen=True)
class Unit:
    """A part of what is asked about, and its hunks, each by its name, where it has some."""

    name: str
    hunks: Mapping[str, str]


def list_units(call: AskedCall) -> list[Unit]:
    """Return the parts that a person is asked about, each with its own hunks."""
    given: Any = call.arguments.get("hunks")
    shown: Mapping[str, Any] = (
        cast("Mapping[str, Any]", given) if isinstance(given, Mapping) else {}
    )
    hunks: dict[str, dict[str, str]] = {
        name: {
            hunk: str(text)
            for hunk, text in cast("Mapping[str, Any]", each).items()
            if hunk in call.parts
        }
        for name, each in shown.items()
        if name in call.parts and isinstance(each, Mapping)
    }
    of_hunks = {hunk for each in hunks.values() for hunk in each}
    return [Unit(name, hunks.get(name, {})) for name in call.parts if name not in of_hunks]


def describe_part(unit: Unit, number: int, count: int) -> str:
    """Return the row that asks about one part."""
    from amplifier_guard.question import quote_value

    answers = f"y, n, or h for its {len(unit.hunks)} hunks" if unit.hunks else "y or n"
    return f"{number} of {count}: {quote_value(unit.name)}? {answers}; other words deny all that are left"


def describe_hunk(text: str, number: int, count: int) -> str:
    """Return the rows that ask about one hunk."""
    rows = (f"|   {line}" for line in text.removesuffix("\n").split("\n"))
    ask = f"hunk {number} of {count}? y or n; other words deny all that are left"
    return "\n".join([*rows, ask])


def wants_hunks(line: str) -> bool:
    """Whether an answer asks to be asked about each hunk of a part."""
    return _read_word(line) in _HUNKS


def describe_rule(call: AskedCall, problem: str | None) -> Iterator[str]:
    """Yield the rows that show a rule before it is kept, and why the last one could not be."""
    from amplifier_guard.question import quote_value

    if problem is not None:
        yield f"it cannot be kept: {problem}"
    kept = call.offer.kept_in
    place = f"goes into {quote_value(kept)}" if kept else "counts in this session"
    yield f"the rule {quote_value(call.offer.rule)} {place}"
    yield "Enter agrees to it and to this call; another rule takes its place; n denies"


def read_rule_line(call: AskedCall, line: str) -> str | None:
    """Return the rule that a person typed; None if they deny, or the terminal was closed."""
    typed = line.strip()
    if not line.endswith("\n") or typed.lower() in _DENY:
        return None
    return typed or call.offer.rule


def name_grant(grant: str) -> str:
    """Return what is shown of a grant once it is given."""
    call = ASKED_CALL.get()
    if call is not None and call.reply.parts is not None:
        return f"allowed for {_count_granted(call, call.reply.parts)}"
    if not grant:
        return "allowed"
    return "allowed in this session" if grant == SESSION_GRANT else "allowed, and the rule is kept"


def _count_granted(call: AskedCall, granted: Sequence[str]) -> str:
    units = list_units(call)
    whole = sum(unit.name in granted for unit in units)
    hunks = sum(hunk in granted for unit in units for hunk in unit.hunks)
    if not hunks:
        return f"{whole} of {len(units)}"
    of_them = f"{hunks} of {sum(len(unit.hunks) for unit in units)} hunks"
    return f"{whole} of {len(units)}, and {of_them}" if len(units) > 1 else of_them


def is_yes(line: str) -> bool | None:
    """Whether a typed line is a yes; None where it is neither that nor a no."""
    word = _read_word(line)
    if word in _DENY:
        return False
    return True if word in CONSENT else None


def _read_word(line: str) -> str:
    return line.strip().lower() if line.endswith("\n") else ""
