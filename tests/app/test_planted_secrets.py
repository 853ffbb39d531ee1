"""Thirty secrets lie on a session's way; what it shows, writes and logs holds none of them."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import pty
import re
import string
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

PLANTED = Path(__file__).parent / "planted"
PATIENCE = 120

MODEL_KEY = "the key of the model"
SHELL_KEY = "a key in the environment"
PASSWORD = "a password in the environment"


def made_up(seed: str, length: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    """The same random characters each time, put together here so that no scanner takes them."""
    digest = hashlib.shake_256(seed.encode()).digest(length)
    return "".join(alphabet[byte % len(alphabet)] for byte in digest)


def base64_of(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(character):04x}" for character in text)


def percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def token(head: str, body: dict[str, Any]) -> str:
    parts = ({"alg": head}, body)
    texts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode() for part in parts]
    return ".".join([*(text.rstrip("=") for text in texts), made_up("jwt", 43)])


ENVIRONMENT = {
    "ANTHROPIC_API_KEY": "sk-" + "ant-api03-" + made_up(MODEL_KEY, 40),
    "GITHUB_TOKEN": "gh" + "p_" + made_up(SHELL_KEY, 36),
    "SERVICE_PASSWORD": made_up(PASSWORD, 28, string.ascii_letters + string.digits + "/+!#"),
    "DATABASE_URL": f"postgres://app:{made_up('database', 20)}@db.example:5432/app",
}
KEY, TOKEN, WORD = (
    ENVIRONMENT[name] for name in ("ANTHROPIC_API_KEY", "GITHUB_TOKEN", "SERVICE_PASSWORD")
)


@dataclass(frozen=True)
class Plant:
    """A secret, where it lies, and as what."""

    place: str
    secret: str
    text: str


def plant(place: str, secret: str, form: str | Callable[[str], str] = "{}") -> Plant:
    return Plant(place, secret, form.format(secret) if isinstance(form, str) else form(secret))


PLANTS = {
    # Known keys, whatever they are written as, and secrets that only look like some.
    "prompt key": plant("prompt", "sk-" + "ant-api03-" + made_up("prompt", 44)),
    "prompt base64": plant("prompt", WORD, base64_of),
    "prompt password": plant("prompt", made_up("said", 18), "password: {}"),
    "file aws": plant("file", made_up("aws", 40), "AWS_SECRET_ACCESS_KEY={}"),
    "file pem": plant(
        "file",
        made_up("pem", 64),
        "-----BEGIN PRIVATE " + "KEY-----\n{}\n-----END PRIVATE " + "KEY-----",
    ),
    "file jwt": plant("file", token("HS256", {"sub": "ada"})),
    "arguments bearer": plant("arguments", made_up("bearer", 32), "Bearer {}"),
    "arguments key": plant("arguments", made_up("argument", 24)),
    "arguments escaped": plant("arguments", TOKEN, escaped),
    "output slack": plant("output", "xox" + "b-123456789012-" + made_up("slack", 24)),
    "output hex": plant("output", WORD, lambda secret: secret.encode().hex()),
    "output field": plant("output", made_up("field", 30)),
    "exception": plant("exception", "gh" + "p_" + made_up("exception", 36), "refused token {}"),
    "note": plant("note", "AI" + "za" + made_up("note", 35), "with {}"),
    "cause": plant("cause", made_up("cause", 16), "cannot reach https://ada:{}@db.example/x"),
    "context": plant("context", WORD, percent),
    "body key": plant("error body", KEY, "the key {} is not valid"),
    "body other": plant("error body", "sk-" + "proj-" + made_up("body", 48)),
    "body escaped": plant("error body", WORD, lambda secret: json.dumps(json.dumps(secret))),
    "header": plant("response header", "sk_" + "live_" + made_up("header", 24)),
    "address": plant("address", made_up("address", 22)),
    "database": plant("address", made_up("database", 20)),
    "config": plant("module config", made_up("config", 26)),
    "metadata": plant("error context", made_up("metadata", 26)),
    "message_id": plant("error context", TOKEN, base64_of),
    "streamed text": plant("stream", "sk-" + "ant-api03-" + made_up("streamed", 40)),
    "streamed thinking": plant("stream", WORD),
    "message": plant("hook message", "gl" + "pat-" + made_up("message", 20)),
    "thread": plant(
        "uncaught error", base64_of(f"ada:{made_up('thread', 20)}"), "Authorization: Basic {}"
    ),
    "warning": plant("warning", made_up("warning", 24), "client_secret={}"),
}

TOOLS = {
    "message": PLANTS["message"].text,
    "metadata": PLANTS["metadata"].text,
    "message_id": PLANTS["message_id"].text,
    "warning": PLANTS["warning"].text,
    "thread": PLANTS["thread"].text,
    "finaliser": PLANTS["context"].text,
    "exception": PLANTS["exception"].text,
    "note": PLANTS["note"].text,
    "cause": PLANTS["cause"].text,
    "context": PLANTS["context"].text,
    "config": {"client_secret": PLANTS["config"].text},
    "output": {
        "found": PLANTS["output slack"].text,
        "digest": PLANTS["output hex"].text,
        "client_secret": PLANTS["output field"].text,
    },
}


def in_pieces(text: str, size: int = 3) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def first_answer(model: Any) -> list[Any]:
    """Thinking and text cut into small pieces, then three tool calls."""
    event = model.event
    usage = {"input_tokens": 10, "output_tokens": 1}
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-1", "content": [],
        "stop_reason": None, "usage": usage,
    }  # fmt: skip
    pieces = [event("message_start", message=message)]
    spoken = [
        ("thinking", f"It says {PLANTS['streamed thinking'].text} there."),
        ("text", f"I was given {PLANTS['streamed text'].text} to use."),
    ]
    for index, (kind, text) in enumerate(spoken):
        pieces.append(
            event("content_block_start", index=index, content_block={"type": kind, kind: ""})
        )
        pieces.extend(
            event("content_block_delta", index=index, delta={"type": f"{kind}_delta", kind: piece})
            for piece in in_pieces(text)
        )
        pieces.append(event("content_block_stop", index=index))
    calls = [
        ("read_file", json.dumps({"path": "notes.txt"})),
        ("fail", json.dumps({"headers": {"Authorization": PLANTS["arguments bearer"].text}})),
        (
            "tell",
            json.dumps({"api_key": PLANTS["arguments key"].text, "text": "@"}).replace(
                "@", PLANTS["arguments escaped"].text
            ),
        ),
    ]
    for index, (name, arguments) in enumerate(calls, len(spoken)):
        block = {"type": "tool_use", "id": f"call_{index}", "name": name, "input": {}}
        pieces.append(event("content_block_start", index=index, content_block=block))
        pieces.extend(
            event(
                "content_block_delta",
                index=index,
                delta={"type": "input_json_delta", "partial_json": piece},
            )
            for piece in in_pieces(arguments)
        )
        pieces.append(event("content_block_stop", index=index))
    delta = {"stop_reason": "tool_use", "stop_sequence": None}
    pieces.append(event("message_delta", delta=delta, usage={"output_tokens": 20}))
    return [*pieces, event("message_stop")]


@dataclass
class Session:
    """The command with everything planted, before a model that answers once and then refuses."""

    command: Any
    model: Any

    def arguments(self, *options: str) -> list[str]:
        body = "; ".join(PLANTS[name].text for name in ("body key", "body other", "body escaped"))
        refusal = {"type": "error", "error": {"type": "invalid_request_error", "message": body}}
        self.model.answers.clear()
        self.model.reply(*first_answer(self.model))
        headers = {"request-id": PLANTS["header"].text}
        self.model.reply(json.dumps(refusal).encode(), status=400, headers=headers)
        said = (PLANTS[name].text for name in ("prompt key", "prompt base64", "prompt password"))
        return [*self.command.line, "run", *options, f"Use these: {', '.join(said)}"]

    def event_log_and_errors(self) -> tuple[str, str]:
        done = subprocess.run(
            self.arguments("--json", "--debug"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            env=self.command.environment,
            cwd=self.command.folder,
            timeout=PATIENCE,
        )
        assert done.returncode == 1
        return done.stdout.decode(), done.stderr.decode()

    def screen(self) -> str:
        """All that reached the terminal, without its styles."""
        master, slave = pty.openpty()
        shown: list[bytes] = []

        def read() -> None:
            try:
                while chunk := os.read(master, 65536):
                    shown.append(chunk)
            except OSError:
                pass  # the command has ended

        reader = threading.Thread(target=read)
        with subprocess.Popen(
            self.arguments("--debug"),
            stdin=subprocess.DEVNULL,
            stdout=slave,
            stderr=slave,
            env={**self.command.environment, "TERM": "xterm-256color", "COLUMNS": "120"},
            cwd=self.command.folder,
        ) as process:
            os.close(slave)
            reader.start()
            assert process.wait(PATIENCE) == 1
        reader.join()
        os.close(master)
        text = b"".join(shown).decode()
        return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", text).replace("\r", "")


@pytest.fixture
def session(command: Any, model: Any, tmp_path: Path) -> Session:
    (tmp_path / "planted.json").write_text(json.dumps(TOOLS))
    lines = [f"line with {plant.text}" for plant in PLANTS.values() if plant.place == "file"]
    (command.folder / "notes.txt").write_text("\n".join(lines))
    address = model.url.replace("//", f"//ada:{PLANTS['address'].text}@")
    command.environment |= ENVIRONMENT
    command.environment |= {
        "ANTHROPIC_BASE_URL": address,
        "PLANTED": str(tmp_path / "planted.json"),
    }
    command.environment["PYTHONPATH"] += f":{PLANTED / 'modules'}"
    return Session(command, model)


def seen(text: str) -> set[str]:
    """The secrets of which eight characters in a row are in a text, in any encoding."""
    lower = text.lower()
    return {name for name, plant in PLANTS.items() if _is_in(plant.secret, text, lower)}


def _is_in(secret: str, text: str, lower: str) -> bool:
    for start in range(len(secret) - 7):
        part = secret[start : start + 8]
        exact = [part, quote(part, safe=""), json.dumps(part)[1:-1], *_base64_forms(part)]
        if any(form in text for form in exact):
            return True
        folded = [part.encode().hex(), percent(part).lower(), escaped(part)]
        if any(form in lower for form in folded):
            return True
    return False


def _base64_forms(part: str) -> Iterator[str]:
    """What stands for all of a part wherever it begins in a text that is encoded."""
    for shift in range(3):
        first, bits = 8 * shift, 8 * len(part.encode())
        inner = base64_of("\0" * shift + part)[-(-first // 6) : (first + bits) // 6]
        yield inner
        yield inner.replace("+", "-").replace("/", "_")


def test_there_are_thirty_secrets_at_twelve_places() -> None:
    assert len(PLANTS) == 30
    assert len({plant.place for plant in PLANTS.values()}) >= 12
    for plant in PLANTS.values():
        assert seen(plant.text) >= {
            name for name, other in PLANTS.items() if other.secret == plant.secret
        }


# Holds: secret-6
def test_no_secret_is_in_the_event_log_the_error_output_or_on_the_terminal(
    session: Session,
) -> None:
    log, errors = session.event_log_and_errors()
    screen = session.screen()

    assert {"events": seen(log), "errors": seen(errors), "screen": seen(screen)} == {
        "events": set(),
        "errors": set(),
        "screen": set(),
    }
    # The session went all its way.
    assert {json.loads(line)["event"] for line in log.splitlines()} >= {
        "content_block:delta", "tool:post", "tool:error", "user:notification", "llm:response",
    }  # fmt: skip
    for told in (errors, screen):
        assert "Traceback (most recent call last):" in told
        assert "error: " in told
        assert told.count("[REDACTED:") > 15


# Holds: secret-6
def test_each_secret_would_be_seen_without_the_redactor(session: Session) -> None:
    path = session.command.environment["PYTHONPATH"]
    session.command.environment["PYTHONPATH"] = f"{PLANTED / 'bare'}:{path}"

    log, errors = session.event_log_and_errors()

    # The provider looks by itself through what servers answer, a context through what it holds.
    assert PLANTS.keys() - seen(log) - seen(errors) == {"body other", "metadata"}
    assert len(seen(session.screen())) > 15
