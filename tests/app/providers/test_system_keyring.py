"""The keyring of the system is asked once, in a limited time, and its failures are one line."""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_app import system_keyring
from amplifier_app.system_keyring import KeyringProblem, SystemKeyring


class Backend:
    """A keyring in memory, which is asked for a key and counts that."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer
        self.asked = 0

    def get_password(self, service: str, name: str) -> Any:
        self.asked += 1
        assert service == "amplifier-core"
        return self.answer() if callable(self.answer) else self.answer


def planted(monkeypatch: pytest.MonkeyPatch, answer: Any = None) -> Backend:
    import keyring

    backend = Backend(answer)
    monkeypatch.setattr(keyring, "get_keyring", lambda: backend)
    return backend


def test_a_key_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = planted(monkeypatch, " a-key\n")
    ring = SystemKeyring()
    assert [ring.read("openai"), ring.read("openai")] == ["a-key", "a-key"]
    assert backend.asked == 1


def test_a_key_that_is_not_there_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = planted(monkeypatch)
    ring = SystemKeyring()
    assert [ring.read("openai"), ring.read("openai")] == ["", ""]
    assert backend.asked == 1


def test_a_keyring_that_never_answers_is_left_behind(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    gate = threading.Event()
    backend = planted(monkeypatch, gate.wait)
    monkeypatch.setattr(system_keyring, "_SECONDS_IN_SILENCE", 0.01)
    ring = SystemKeyring(seconds=0.02)
    for _ in range(2):
        with pytest.raises(
            KeyringProblem, match=r"cannot be used: it did not answer within 0\.02 s"
        ):
            ring.read("openai")
    assert backend.asked == 1
    err = capfd.readouterr().err
    assert err == "waiting for the system keyring, which may ask for its password\n"
    gate.set()


class KeyringLocked(Exception):
    pass


class NoKeyringError(RuntimeError):
    pass


def raising(error: BaseException) -> Any:
    def fail() -> None:
        raise error

    return fail


@pytest.mark.parametrize(
    ("answer", "line", "is_absent"),
    [
        (raising(KeyringLocked("Failed to unlock")), ": it is locked", False),
        (raising(NoKeyringError("none")), "this system has no keyring", True),
        (raising(ValueError("a\nb")), ": ValueError: a", False),
        (raising(ValueError()), ": ValueError", False),
        (raising(KeyboardInterrupt()), ": KeyboardInterrupt", False),
        (raising(SystemExit("bye")), ": SystemExit: bye", False),
        (raising(ImportError("no backend")), ": ImportError: no backend", False),
        (b"a-key", ": it answered with a `bytes`", False),
    ],
)
def test_what_goes_wrong_is_said_and_not_tried_again(
    monkeypatch: pytest.MonkeyPatch, answer: Any, line: str, is_absent: bool
) -> None:
    backend = planted(monkeypatch, answer)
    ring = SystemKeyring()
    for name in ("openai", "groq"):
        with pytest.raises(KeyringProblem) as caught:
            ring.read(name)
        assert str(caught.value).endswith(line)
        assert caught.value.is_absent is is_absent
    assert backend.asked == 1


def test_a_package_that_cannot_be_imported_is_a_failure_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace(__spec__=object()))  # type: ignore[arg-type] -- not a keyring
    with pytest.raises(KeyringProblem, match="AttributeError"):
        SystemKeyring().read("openai")


def test_without_the_package_there_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    ring = SystemKeyring()
    assert not ring.is_installed
    assert ring.read("openai") == ""
    with pytest.raises(KeyringProblem, match=r"pip install 'amplifier-core\[keyring\]'"):
        ring.write("openai", "a-key")


# Holds: command-142
def test_a_system_that_can_have_no_keyring_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "keyring", raising=False)
    monkeypatch.setattr(system_keyring, "can_have_keyring", lambda environment: False)
    ring = SystemKeyring()
    for _ in range(2):
        with pytest.raises(KeyringProblem, match="this system has no keyring") as caught:
            ring.read("openai")
        assert caught.value.is_absent
    assert "keyring" not in sys.modules


def test_a_keyring_that_the_program_has_imported_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    planted(monkeypatch, "a-key")
    monkeypatch.setattr(system_keyring, "can_have_keyring", lambda environment: False)
    assert SystemKeyring().read("openai") == "a-key"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is always asked")
def test_the_keychain_of_another_system_is_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    name = "keyring.backends.macOS.api"
    monkeypatch.delitem(sys.modules, name, raising=False)
    backend = planted(monkeypatch)
    keyring = sys.modules["keyring"]

    def get_keyring() -> Backend:
        seen.append(sys.modules.get(name, "free"))
        return backend

    monkeypatch.setattr(keyring, "get_keyring", get_keyring)
    SystemKeyring().read("openai")
    assert seen == [None]
    assert name not in sys.modules
