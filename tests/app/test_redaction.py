"""Which secrets the command knows, and that streams of events go on without them."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_app import redacted_output
from amplifier_app.known_secrets import Secrets, secrets_among
from amplifier_app.redacted_output import RedactedOutput

BODY = "Q7wE9rT2yU4iO6pA8sD1fG3hJ5kL0zXcVb"


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"GITHUB_TOKEN": BODY, "PATH": f"/bin/{BODY}", "HOME": BODY}, [BODY]),
        ({"providers": [{"config": {"api_key": f" {BODY} "}}]}, [BODY]),
        ({"DATABASE_URL": f"postgres://app:{BODY}%2F@db/app"}, [f"{BODY}%2F", f"{BODY}/"]),
        ({"API_KEY": "demo", "PASSWORD": "short"}, []),
        ({"TOKEN_FILE": str(Path(__file__)), "API_KEY": str(Path(__file__))}, []),
        ({"max_tokens": 64_000, "model": "claude-sonnet", "password": None}, []),
    ],
)
def test_secrets_are_known_by_their_names(settings: dict[str, Any], found: list[str]) -> None:
    assert list(secrets_among(settings)) == found


def test_settings_that_hold_themselves_end() -> None:
    settings: dict[str, Any] = {"password": BODY}
    settings["self"] = [settings, settings]
    assert list(secrets_among(settings)) == [BODY]


def test_what_is_learned_later_is_known_from_then_on() -> None:
    secrets = Secrets({"SERVICE_PASSWORD": "correct horse battery"})
    encoded = base64.b64encode(BODY.encode()).decode()
    assert secrets.redact(f"horse battery {encoded}") == f"[REDACTED:secret] {encoded}"
    secrets.learn({"password": BODY})
    assert BODY[:8] not in secrets.redact(f"{BODY} {encoded}")
    assert secrets.redact("horse battery") == "[REDACTED:secret]"


def test_a_line_is_redacted_before_it_is_cut() -> None:
    line = Secrets({}).write_line("x" * 30 + " sk-" + "ant-api03-" + BODY, 50)
    assert line == "x" * 30 + " [REDACTED:anthropi…"


class Recorder:
    """An output that keeps what it gets."""

    shows_blocks = True

    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []

    def handle(self, event: str, data: Any) -> None:
        self.events.append((event, data))

    def finish(self) -> None:
        self.events.append(("finish", None))


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    monkeypatch.setattr(redacted_output, "SECRETS", Secrets({"API_KEY": BODY}))
    return Recorder()


def delta(index: int, text: object, **fields: Any) -> tuple[str, dict[str, Any]]:
    return ("content_block:delta", {"block_index": index, "delta": text, **fields})


def end(index: int, text: str) -> tuple[str, dict[str, Any]]:
    return ("content_block:end", {"block_index": index, "block": {"text": text}})


def shown(recorder: Recorder, events: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    recorder.events.clear()
    output: Any = RedactedOutput(recorder)  # pyright: ignore[reportArgumentType]
    for event, data in events:
        output.handle(event, data)
    output.finish()
    return recorder.events


def test_the_rest_of_a_block_comes_before_its_end(recorder: Recorder) -> None:
    assert shown(recorder, [delta(0, "so it", kind="text"), end(0, "so it")]) == [
        delta(0, "so ", kind="text"),
        delta(0, "it", kind="text"),
        end(0, "so it"),
        ("finish", None),
    ]


def test_the_rest_of_a_block_that_never_ends_comes_at_the_end(recorder: Recorder) -> None:
    assert shown(recorder, [delta(0, f"is {BODY}")]) == [
        delta(0, "is "),
        delta(0, "[REDACTED:secret]"),
        ("finish", None),
    ]


@pytest.mark.parametrize("event", ["llm:response", "llm:post", "execution:end"])
def test_the_rest_of_a_block_that_never_ends_comes_before_what_ends_its_response(
    recorder: Recorder, event: str
) -> None:
    events = [
        delta(0, "so it", session_id="a"),
        delta(0, "and so", session_id="b"),
        (event, {"session_id": "a"}),
    ]
    assert shown(recorder, events) == [
        delta(0, "so ", session_id="a"),
        delta(0, "and ", session_id="b"),
        delta(0, "it", session_id="a"),
        (event, {"session_id": "a"}),
        delta(0, "so", session_id="b"),
        ("finish", None),
    ]


def test_blocks_do_not_mix_and_an_index_may_come_again(recorder: Recorder) -> None:
    half, rest = BODY[:7], BODY[7:14]
    events = [delta(0, half), delta(1, rest), end(0, half), delta(0, rest), end(0, rest)]
    joined = "".join(data["delta"] for event, data in shown(recorder, events) if "delta" in event)
    assert sorted(joined) == sorted(half + rest + rest)


def test_other_events_and_odd_deltas_go_on_without_secrets(recorder: Recorder) -> None:
    events: list[tuple[str, Any]] = [
        delta(0, {"password": "hunter2hunter2"}),
        ("content_block:delta", BODY),
        ("tool:post", {"result": {"output": [BODY, 1]}, "tool_call_id": "toolu_01"}),
    ]
    assert shown(recorder, events) == [
        delta(0, {"password": "[REDACTED:password]"}),
        ("content_block:delta", "[REDACTED:secret]"),
        ("tool:post", {"result": {"output": ["[REDACTED:secret]", 1]}, "tool_call_id": "toolu_01"}),
        ("finish", None),
    ]


@given(st.text("ab \n", max_size=20), st.text("ab \n", max_size=20), st.integers(1, 12))
def test_however_a_text_is_cut_its_deltas_are_the_redacted_text(
    before: str, after: str, size: int
) -> None:
    recorder = Recorder()
    text = f"{before} {BODY} {after}"
    events = [delta(0, text[at : at + size]) for at in range(0, len(text), size)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redacted_output, "SECRETS", Secrets({"API_KEY": BODY}))
        found = shown(recorder, [*events, end(0, text)])
    joined = "".join(data["delta"] for event, data in found if event == "content_block:delta")
    assert joined == f"{before} [REDACTED:secret] {after}"
    assert found[-2][1]["block"]["text"] == joined
