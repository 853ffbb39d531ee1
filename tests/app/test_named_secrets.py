"""Known secrets in a question are named, and hide nothing else."""

from __future__ import annotations

import base64
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_app.known_secrets import Secrets
from amplifier_app.named_secrets import is_weak, with_names
from amplifier_guard.question import AsIs, question_rows

KEY = "planted-Q7wE9rT2yU4iO6pA8sD1"
TOKEN = "ghp_1a2B3c4D5e6F7g8H9i0J"
NAMES = {KEY: "API_KEY", TOKEN: "GITHUB_TOKEN", "postgres": "PGPASSWORD"}
PIECES = st.sampled_from(
    [KEY, TOKEN, KEY[:10], KEY[3:15], KEY[8:], KEY[::-1], base64.b64encode(KEY.encode()).decode(),
     KEY.encode().hex(), "postgres", " ", "\n", "[API_KEY]", "[API_KEY:10:", "[", "]", "API_KEY",
     "[PGPASSWORD]", "[REDACTED:secret]", "⟨U+5B⟩", "é漢", "x"]
) | st.text(max_size=4)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=6).map("".join)


def shown(text: str) -> str:
    return "\n".join(question_rows(with_names(text, NAMES), "bcdf", 80))


# Holds: secret-7
@given(TEXTS, TEXTS)
def test_texts_that_differ_look_different(one: str, other: str) -> None:
    assert (shown(one) == shown(other)) is (one == other)


# Holds: secret-7
@given(TEXTS)
def test_no_eight_characters_of_a_strong_secret_are_shown(text: str) -> None:
    seen = "".join(with_names(text, NAMES))
    for secret in (KEY, TOKEN):
        for start in range(len(secret) - 7):
            part = secret[start : start + 8]
            assert part not in seen or part.isalpha()


@given(TEXTS)
def test_what_is_not_secret_stays(text: str) -> None:
    assert "".join(with_names(text, {"postgres": "PGPASSWORD"})) == text


def test_a_secret_is_shown_by_its_name_and_place() -> None:
    secrets = Secrets({"API_KEY": KEY, "PGPASSWORD": "postgres"})
    asked = f"curl -H {KEY} postgres {KEY[:9]}"

    parts = [part for part in with_names(asked, secrets.names) if part]
    assert parts[:3] == ["curl -H ", "[API_KEY]", " postgres "]
    assert isinstance(parts[3], AsIs)
    assert parts[3].startswith("[API_KEY:9:")


def test_a_part_of_a_secret_that_is_a_word_hides_nothing() -> None:
    names = {"postgres-Q7wE9rT2yU4iO6pA8sD1": "PGPASSWORD"}
    assert "".join(with_names("dropdb postgres", names)) == "dropdb postgres"


@pytest.mark.parametrize(
    "value",
    ["", "postgres", "hunter2", "elevenchars", "administrator", "Administrator", "CONFIGURATION",
     "authentication1", "internationalization", "Password1234", "!development!", "documentation"],
)  # fmt: skip
def test_short_values_and_words_are_weak(value: str) -> None:
    assert is_weak(value)


@pytest.mark.parametrize(
    "value",
    [KEY, TOKEN, "qzxkvjqwpzlk", "xkcd8374hgjd", "0123456789ab", "f3a1c09e77b2", "wLqZkTbVxRpM",
     "jfkdlsaghqwu", "correct-horse-battery"],
)  # fmt: skip
def test_other_values_are_not(value: str) -> None:
    assert not is_weak(value)


@given(st.text(string.ascii_letters + string.digits, min_size=24, max_size=40))
def test_long_mixed_values_are_never_weak(value: str) -> None:
    assert not is_weak(value)
