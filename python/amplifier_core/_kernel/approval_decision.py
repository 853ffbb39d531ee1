"""The decision in a user's answer to an approval."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Literal

ALWAYS_READ = frozenset({"allow", "allow once", "allow always"})
"""Answers that grant whatever options were offered."""

CONSENT = ALWAYS_READ | {
    "accept",
    "approve",
    "confirm",
    "continue",
    "grant",
    "ok",
    "okay",
    "proceed",
    "y",
    "yes",
}
"""What an option must say to grant, apart from the marks around it.

English alone: the same letters mean something else in another language.
"""

MARKS = (
    (0x09, 0x09), (0x20, 0x20), (0x22, 0x40), (0x5B, 0x60), (0x7B, 0x7D), (0xA0, 0xA0),
    (0xA7, 0xA7), (0xAB, 0xAB), (0xB2, 0xB3), (0xB6, 0xB7), (0xB9, 0xB9), (0xBB, 0xBB),
    (0x2002, 0x200A), (0x2010, 0x2027), (0x2039, 0x203A), (0x2070, 0x2070), (0x2074, 0x2079),
    (0x2080, 0x2089), (0x20E3, 0x20E3), (0x2190, 0x2199), (0x21D2, 0x21D2), (0x2460, 0x249B),
    (0x2500, 0x2570), (0x2574, 0x2611), (0x2614, 0x261F), (0x2622, 0x26D1), (0x26D3, 0x26D3),
    (0x26D5, 0x26DC), (0x26DE, 0x2714), (0x2719, 0x274B), (0x274D, 0x274D), (0x274F, 0x27BF), (0x2B05, 0x2B07),
    (0x2B1B, 0x2B1C), (0x2B50, 0x2B50), (0x3000, 0x3002), (0x3008, 0x3011), (0x3014, 0x301B),
    (0xFE0E, 0xFE0F), (0xFF08, 0xFF09), (0xFF0C, 0xFF0E), (0xFF10, 0xFF1B), (0xFF3B, 0xFF3B),
    (0xFF3D, 0xFF3D), (0x1F300, 0x1F44D), (0x1F44F, 0x1F4F4), (0x1F4F6, 0x1F506),
    (0x1F508, 0x1F514), (0x1F516, 0x1F51D), (0x1F51F, 0x1F53D), (0x1F600, 0x1F644),
    (0x1F680, 0x1F6AA), (0x1F7E0, 0x1F7EB),
)  # fmt: skip
"""Blanks, brackets, digits, punctuation and pictures that may surround the words of an option.

Ranges of code points. Signs of negation are none of them.
"""

_MARKS = "".join(chr(code) for first, last in MARKS for code in range(first, last + 1))
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


def option_words(option: str) -> str:
    """Return what an option says: without marks around it, ASCII letters in lower case."""
    return option.lstrip(_MARKS).rstrip(f"{_MARKS}!").translate(_LOWER)


def is_consent(option: str) -> bool:
    """Whether an option is a known word of consent, apart from the marks around it."""
    return option_words(option) in CONSENT


def read_approval(
    decision: str, options: Sequence[str]
) -> Literal["granted", "denied", "unexpected"]:
    """Read the decision of an approval system.

    `allow`, `allow once` and `allow always` always grant; so does another option that was offered
    and is consent. Everything else denies.
    """
    answer = decision.translate(_LOWER)
    if answer in ALWAYS_READ:
        return "granted"
    if answer not in {option.translate(_LOWER) for option in options}:
        return "denied" if answer == "deny" else "unexpected"
    return "granted" if is_consent(decision) else "denied"


def clip_prompt(prompt: str) -> str:
    """Cut a long prompt for a reason or a log line."""
    return prompt if len(prompt) <= 200 else f"{prompt[:200]}...[truncated]"
