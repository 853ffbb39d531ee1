"""What something that is typed can become."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Candidate:
    """What Tab offers, with a few words about it."""

    text: str
    about: str = ""
