"""Made-up secrets in the places where secrets are written, the same ones for each seed."""

from __future__ import annotations

import base64
import dataclasses
import random
import re
import string
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDER = Path(__file__).parents[1] / "data/secrets"
CONTEXTS = [
    "header",
    "connection",
    "column",
    "mapping",
    "line_before",
    "command",
    "environment",
    "source",
    "log",
    "file",
]
PART = 8
"""So many characters of a secret in a row are a leak; of a shorter one, all of them."""

WORDS = [
    "copper",
    "lantern",
    "north",
    "harbor",
    "falcon",
    "misty",
    "winter",
    "velvet",
    "tiger",
    "pepper",
    "cactus",
    "garden",
    "silver",
    "window",
    "bridge",
    "rocket",
    "planet",
    "marble",
    "forest",
    "candle",
    "pirate",
    "orange",
    "summer",
    "guitar",
    "basket",
    "thunder",
]
LETTERS = string.ascii_letters + string.digits


def characters(rng: random.Random, alphabet: str, count: int) -> str:
    return "".join(rng.choices(alphabet, k=count))


def word(rng: random.Random) -> str:
    first, second = rng.sample(WORDS, 2)
    number = rng.randrange(10, 3000)
    forms = (f"{first}{number}", f"{first.title()}{number}", f"{first}{number}{second}")
    return rng.choice([form for form in forms if len(form) >= PART])


def in_base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


KINDS: dict[str, Callable[[random.Random], str]] = {
    "word": word,
    "lower": lambda rng: "".join(rng.sample(WORDS, 2)),
    "upper": lambda rng: "".join(rng.sample(WORDS, 2)).upper(),
    "hyphen": lambda rng: "-".join(rng.sample(WORDS, 3)),
    "phrase": lambda rng: " ".join(rng.sample(WORDS, 4)),
    "seed": lambda rng: " ".join(rng.sample(WORDS, 12)),
    "sign": lambda rng: rng.choice(WORDS).title() + characters(rng, "!*^~_+.-", 2) + word(rng),
    "hex": lambda rng: characters(rng, "0123456789abcdef", 32),
    "hex64": lambda rng: characters(rng, "0123456789abcdef", 64),
    "base64": lambda rng: in_base64(rng.randbytes(31)),
    "basic": lambda rng: in_base64(f"ada:{word(rng)}".encode()),
    "uuid": lambda rng: str(uuid.UUID(bytes=rng.randbytes(16), version=4)),
    "pin": lambda rng: characters(rng, string.digits, 6),
    "digits": lambda rng: characters(rng, string.digits, 10),
    "token": lambda rng: characters(rng, LETTERS, 36),
    "hash": lambda rng: characters(rng, LETTERS + "./", 43),
}
BLANK = re.compile("«([a-z0-9]+)»")


@dataclasses.dataclass(frozen=True)
class Placed:
    """A text with secrets in it."""

    context: str
    place: int
    text: str
    secrets: tuple[str, ...]

    def is_leaked_by(self, text: str) -> bool:
        """Whether a part of a secret is left in a text."""
        return any(part in text for secret in self.secrets for part in parts(secret))


def parts(secret: str) -> Iterator[str]:
    for start in range(max(len(secret) - PART, 0) + 1):
        yield secret[start : start + PART]


def templates(context: str) -> list[str]:
    return (FOLDER / f"{context}.txt").read_text().rstrip("\n").split("\n%\n")


def placed(seed: int) -> list[Placed]:
    """Every template of each context, filled with secrets of its kinds."""
    rows: list[Placed] = []
    for context in CONTEXTS:
        for place, template in enumerate(templates(context)):
            rng = random.Random(f"{seed} {context} {place}")
            secrets: list[str] = []

            def fill(
                blank: re.Match[str], rng: random.Random = rng, to: list[str] = secrets
            ) -> str:
                if blank[1] == "salt":
                    return characters(rng, LETTERS, 8)
                to.append(KINDS[blank[1]](rng))
                return to[-1]

            rows.append(Placed(context, place, BLANK.sub(fill, template), tuple(secrets)))
    return rows
