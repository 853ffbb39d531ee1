"""What a prompt says: a line of thoughts about it, and the words to search for."""

from __future__ import annotations

import re

from amplifier_guard import TerminalText

_MAX_PROMPT_CHARS = 200
_MAX_WORDS = 3
_MIN_WORD_CHARS = 3
_QUOTED = re.compile(r"`([^`\n]{2,60})`|\"([^\"\n]{2,60})\"|“([^”\n]{2,60})”")
_WORD = re.compile(r"\w(?:[\w./:-]*\w)?")

# Words that most prompts share: they ask, they are polite, or they mean the folder as a whole.
_COMMON_TEXT = """
    a about again all also an and any anything are as at be been but by can could did do does done
    explain describe find for from get give go good had has have hello help here hey hi how i if in
    into is it its just know let like list little look make may me more most much my need no not
    now of on one only or our out please read say see should show so some something tell thank
    thanks that the their them then there these they thing things think this those through to
    under up us use used using very want was way we well were what when where which who why will
    with would write yes you your
    code codebase content contents directory file files folder introduction overview project
    projects repo repository summarise summarize summary tour walk work works short brief
    briefly quick quickly main important
"""
_COMMON = frozenset(_COMMON_TEXT.split())


def describe_request(prompt: str) -> str:
    """Return a sentence that quotes a prompt on one line."""
    line = TerminalText.line(" ".join(prompt.split()), _MAX_PROMPT_CHARS)
    return f"The request is: “{line}”." if line else "The request is empty."


def words_to_look_for(prompt: str) -> list[str]:
    """Return up to three words or quoted phrases that are particular to `prompt`.

    Text in quotes or backticks comes first. A prompt that only asks for a tour has none.
    """
    found = ["".join(groups).strip() for groups in _QUOTED.findall(prompt)]
    plain: list[str] = _WORD.findall(_QUOTED.sub(" ", prompt))
    found += [
        word
        for word in plain
        if len(word) >= _MIN_WORD_CHARS and word.lower() not in _COMMON and not word.isdigit()
    ]
    unique = {word.lower(): word for word in reversed(found) if word}
    return list(reversed(unique.values()))[:_MAX_WORDS]


def word_pattern(word: str) -> str:
    """Return a regular expression for `word` as a whole word, in any dialect of them."""
    escaped = re.sub(r"([^\w\s])", r"\\\1", word)
    # Elsewhere than at ASCII letters the dialects differ on what a word boundary is.
    start = r"\b" if re.match(r"[A-Za-z0-9_]", word) else ""
    end = r"\b" if re.search(r"[A-Za-z0-9_]\Z", word) else ""
    return f"{start}{escaped}{end}"


def name_pattern(word: str) -> str | None:
    """Return a glob for files whose name contains `word`, or None if it cannot be a name."""
    name = word.rsplit("/", 1)[-1]
    return f"**/*{name}*" if re.fullmatch(r"[\w.-]+", name) else None
