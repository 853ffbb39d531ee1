"""Secrets leave text, data, errors, logs and streams whole; everything else stays as it is."""

from __future__ import annotations

import base64
import dataclasses
import json
import logging
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel

from amplifier_guard import RedactingFilter, Redactor, hide_homes, shorten

BODY = "Q7wE9rT2yU4iO6pA8sD1fG3hJ5kL0zXcVb"
"""Made up; keys are put together from it so that no scanner takes them for real."""
KEY = "sk-" + "ant-api03-" + BODY


def parts(secret: str) -> list[str]:
    """Every part of eight characters."""
    return [secret[start : start + 8] for start in range(len(secret) - 7)]


def part_in(secret: str, text: str) -> str | None:
    return next((part for part in parts(secret) if part in text), None)


def percent(secret: str, mask: int) -> str:
    return "".join(
        f"%{byte:02x}" if byte > 126 or byte == 37 or mask >> place % 40 & 1 else chr(byte)
        for place, byte in enumerate(secret.encode())
    )


def escaped(secret: str, mask: int) -> str:
    return "".join(
        f"\\u{ord(character):04x}" if mask >> place % 40 & 1 else json.dumps(character)[1:-1]
        for place, character in enumerate(secret)
    )


ENCODINGS = st.sampled_from(
    [
        lambda secret, mask: secret,
        lambda secret, mask: base64.b64encode(b"ab"[: mask % 3] + secret.encode()).decode(),
        lambda secret, mask: base64.urlsafe_b64encode(secret.encode()).decode().rstrip("="),
        lambda secret, mask: base64.encodebytes(secret.encode() * 3).decode(),
        lambda secret, mask: secret.encode().hex(),
        percent,
        lambda secret, mask: quote(secret, safe=""),
        escaped,
        lambda secret, mask: json.dumps(json.dumps(secret)),
        lambda secret, mask: secret.replace("/", "\\/"),
    ]
)
SECRETS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=40)
AROUND = st.text(st.characters(codec="utf-8"), max_size=30)


def streamed(redactor: Redactor, text: str, cuts: list[int]) -> str:
    places = sorted(cut % (len(text) + 1) for cut in cuts)
    stream = redactor.stream()
    chunks = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    return "".join(map(stream.feed, chunks)) + stream.flush()


# Holds: secret-1
@given(
    SECRETS, AROUND, AROUND, ENCODINGS, st.integers(0, 2**40), st.lists(st.integers(0), max_size=5)
)
@example(
    "0" * 24 + "1",
    "0000",
    "0",
    lambda secret, mask: base64.encodebytes(secret.encode() * 3).decode(),
    0,
    [83],
)
def test_no_part_of_a_known_secret_survives(
    secret: str, before: str, after: str, encode: Any, mask: int, cuts: list[int]
) -> None:
    redactor = Redactor([secret])
    form = encode(secret, mask)
    text = f"{before} {form} {after}"
    for out in (redactor.redact(text), streamed(redactor, text, cuts)):
        bare = out.replace("[REDACTED:secret]", "\0")
        assert part_in(secret, bare) is None
        assert part_in(form, bare) is None


@given(st.from_regex(r'[a-d01][a-d01 ",}\]&\t\\]{6,12}[a-d01]', fullmatch=True), st.integers(1, 3))
@example('0000",00', 2)
def test_a_secret_that_goes_on_behind_the_end_of_a_word_is_hidden_however_its_text_is_cut(
    secret: str, layers: int
) -> None:
    redactor = Redactor([secret])
    form = secret
    for _ in range(layers):
        form = json.dumps(form)
    text = f"0 {form} 000000"
    whole = redactor.redact(text)
    assert part_in(secret, whole) is None

    for place in range(len(text)):
        assert streamed(redactor, text, [place]) == whole
    assert streamed(redactor, text, list(range(len(text)))) == whole


@given(st.from_regex(r"([A-Za-zäé]{1,10}[ ,.!?\n\ud800]{1,2}){0,30}", fullmatch=True))
def test_text_without_secrets_comes_back_as_the_same_object(text: str) -> None:
    redactor = Redactor([KEY])

    assert redactor.redact(text) is text
    assert streamed(redactor, text, [3, 17]) == text


def test_lone_surrogates_stay_beside_a_secret() -> None:
    assert Redactor().redact(f"\ud800 {KEY} \udfff") == "\ud800 [REDACTED:anthropic key] \udfff"


def test_a_secret_that_is_too_short_is_refused_without_showing_it() -> None:
    with pytest.raises(ValueError, match=r"secret 1 has 3 bytes") as refused:
        Redactor(["long enough", "abc"])
    assert "abc" not in str(refused.value)


def test_data_is_redacted_by_keys_and_by_values() -> None:
    data = {
        "headers": [("x-api-key", "v1"), (b"authorization", b"Bearer abc12345")],
        "apiKey": "short",
        "password": 12345678,
        "nested": {"client_secret": ["a", "b"], "text": f"use {KEY}"},
        "body": KEY.encode(),
        KEY: 1,
        "set": {KEY},
        "prompt_tokens": 12,
        "token": None,
    }

    assert Redactor().redact_data(data) == {
        "headers": [("x-api-key", "[REDACTED:key]"), (b"authorization", b"[REDACTED:credentials]")],
        "apiKey": "[REDACTED:key]",
        "password": "[REDACTED:password]",
        "nested": {
            "client_secret": ["[REDACTED:secret]", "[REDACTED:secret]"],
            "text": "use [REDACTED:anthropic key]",
        },
        "body": b"[REDACTED:anthropic key]",
        "[REDACTED:anthropic key]": 1,
        "set": {"[REDACTED:anthropic key]"},
        "prompt_tokens": 12,
        "token": None,
    }


# Holds: secret-2
def test_data_without_secrets_comes_back_as_the_same_object() -> None:
    schema = {"type": "object", "properties": {"password": {"type": "string"}}}
    data = {"a": [1, 2.5, None, True, ("x",), {1}], "input_schema": schema, "when": object}

    assert Redactor([KEY]).redact_data(data) is data


def test_only_what_changes_is_copied() -> None:
    clean = {"a": 1}
    data = [clean, KEY]

    redacted = Redactor().redact_data(data)

    assert redacted[0] is clean
    assert data == [clean, KEY]


# Holds: secret-3
def test_deep_circular_and_entangled_data_ends() -> None:
    redactor = Redactor()
    circular: list[Any] = [KEY]
    circular.append(circular)
    assert redactor.redact_data(circular) == [
        "[REDACTED:anthropic key]",
        "[REDACTED:circular data]",
    ]

    deep: Any = KEY
    for _ in range(100_000):
        deep = [deep]
    assert "[REDACTED:deep data]" in repr(redactor.redact_data(deep))

    entangled: Any = KEY
    for _ in range(100):
        entangled = [entangled, entangled]
    assert redactor.redact_data(entangled) is not entangled


class Model(BaseModel):
    name: str
    token: str


@dataclasses.dataclass
class Record:
    text: str


class Unshowable:
    def __str__(self) -> str:
        raise RuntimeError(KEY)


def test_objects_are_redacted_as_what_they_show() -> None:
    redactor = Redactor()
    assert redactor.redact_data([Model(name="a", token="abc1"), Record(KEY), ValueError(KEY)]) == [
        {"name": "a", "token": "[REDACTED:token]"},
        {"text": "[REDACTED:anthropic key]"},
        "[REDACTED:anthropic key]",
    ]
    record = Record("a")
    assert redactor.redact_data(record) is record
    assert KEY not in str(redactor.redact_data([Unshowable()])[0].__class__)


def chained() -> BaseException:
    try:
        try:
            try:
                raise KeyError(f"a {KEY}")
            except KeyError as error:
                error.add_note(f"note {BODY[::-1]}")
                raise OSError(2, "no", f"/home/ada/{BODY[::-1]}") from error
        finally:
            raise ExceptionGroup("several", [ValueError(KEY), ExceptionGroup("in", [OSError(KEY)])])
    except ExceptionGroup as error:
        return error


# Holds: secret-5
def test_a_chain_of_errors_is_shown_without_secrets() -> None:
    secret = BODY[::-1]
    shown = Redactor([secret]).redact_exception(chained())

    assert part_in(BODY, shown) is None
    assert part_in(secret, shown) is None
    assert "/home/ada" not in shown
    for name in ("KeyError", "OSError", "ExceptionGroup: several", "ValueError", "note "):
        assert name in shown


def test_an_error_that_cannot_be_shown_is_named() -> None:
    class Broken(Exception):
        def __str__(self) -> str:
            raise RuntimeError(KEY)

    error = Broken(KEY)
    error.__cause__ = error
    shown = Redactor().redact_exception(error)

    assert "Broken" in shown
    assert part_in(BODY, shown) is None


def logged(redact: RedactingFilter, *args: Any, **kwargs: Any) -> tuple[str, logging.LogRecord]:
    record = logging.getLogger("test").makeRecord("test", 20, __file__, 1, *args, **kwargs)
    assert redact.filter(record)
    return logging.Formatter("%(message)s").format(record), record


def test_log_records_lose_their_secrets() -> None:
    redact = RedactingFilter(Redactor([BODY[::-1]]))
    line, _ = logged(redact, "key %s in %s", (KEY, "/home/ada/x"), None)
    assert line == "key [REDACTED:anthropic key] in ~/x"

    line, record = logged(redact, "two %s", (1, KEY), None, extra={"payload": {"api_key": "v1"}})
    assert part_in(BODY, line) is None
    assert vars(record)["payload"] == {"api_key": "[REDACTED:key]"}

    error = chained()
    line, record = logged(redact, "failed", (), (type(error), error, None), sinfo=f"Stack {KEY}")
    assert part_in(BODY, line) is None
    assert part_in(BODY[::-1], line) is None
    assert "KeyError" in line
    assert record.exc_info is None


# Holds: secret-10
def test_clean_log_records_stay_as_they_are() -> None:
    argument = ("a", 1)
    _, record = logged(RedactingFilter(Redactor([KEY])), "%s is %d", argument, None)

    assert (record.msg, record.args) == ("%s is %d", argument)


def test_long_messages_are_cut_between_characters() -> None:
    line, _ = logged(RedactingFilter(Redactor(), most=3), "naïve", (), None)

    assert line == "na…"
    assert shorten("naïve", 5) == "naïve"
    assert hide_homes("/Users/Ádám/x /home/b") == "~/x ~"


def test_a_stream_holds_back_one_word() -> None:
    stream = Redactor().stream()

    assert stream.feed("Hello wor") == "Hello "
    assert stream.feed("ld 😀 sk-") == "world 😀 "
    assert stream.feed("ant-" + BODY) == ""
    assert stream.feed("\n") == "[REDACTED:anthropic key]\n"
    assert stream.flush() == ""


# Holds: secret-7
def test_known_secrets_alone_can_be_taken_out_of_what_will_run() -> None:
    redactor = Redactor([KEY])
    command = "curl -H 'authorization: Bearer $(rm -rf /tmp/xyz012345)' \ud800"
    assert redactor.redact(command) != command
    assert redactor.redact_known(command) == command
    for form in (KEY, quote(KEY, safe=""), KEY.encode().hex()):
        assert redactor.redact_known(f"{command} {form}") == f"{command} [REDACTED:secret]"
