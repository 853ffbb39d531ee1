"""What a person in the terminal may grant beyond a call: the words for it, and a rule to change."""

from __future__ import annotations

from collections.abc import Iterator

from amplifier_core.approval import ASKED_CALL, CONSENT, SESSION_GRANT, AskedCall

_SESSION, _RULE, _EACH = ("s", "session"), ("p", "pattern", "rule"), ("e", "each")
_DENY = ("n", "no", "deny")


def describe_offer() -> str:
    """Return the row about what may be granted beyond the call that is asked about; may be empty."""
    from amplifier_guard.question import quote_value

    call = ASKED_CALL.get()
    words: list[str] = []
    if call is not None and call.offer.for_session:
        words.append(f"s for {quote_value(call.offer.name or call.tool_name)} in this session")
    if call is not None and call.offer.rule is not None:
        words.append(f"p for a rule such as {quote_value(call.offer.rule)}")
    if call is not None and call.parts:
        return f"y for all {len(call.parts)}, or e to be asked about each"
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


def describe_part(name: str, number: int, count: int) -> str:
    """Return the row that asks about one part."""
    from amplifier_guard.question import quote_value

    return f"{number} of {count}: {quote_value(name)}? y or n; other words deny all that are left"


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
        return f"allowed for {len(call.reply.parts)} of {len(call.parts)}"
    if not grant:
        return "allowed"
    return "allowed in this session" if grant == SESSION_GRANT else "allowed, and the rule is kept"


def is_yes(line: str) -> bool | None:
    """Whether a typed line is a yes; None where it is neither that nor a no."""
    word = _read_word(line)
    if word in _DENY:
        return False
    return True if word in CONSENT else None


def _read_word(line: str) -> str:
    return line.strip().lower() if line.endswith("\n") else ""
