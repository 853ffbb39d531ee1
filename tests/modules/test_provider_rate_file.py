"""Processes share what is left of their rate limits, and no file can break a call."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_providers.limits.endpoint import Endpoint, KnownLimit
from amplifier_providers.limits.rate_file import RateFile
from amplifier_providers.wire.load import Load
from amplifier_providers.wire.settings import HttpSettings

NOW = 1_000.0
LOW = KnownLimit(limit=100, remaining=1, reset=NOW + 30, noted=NOW)
HEADERS = {
    "anthropic-ratelimit-tokens-limit": "1000",
    "anthropic-ratelimit-tokens-remaining": "3",
    "anthropic-ratelimit-tokens-reset": "30",
}
PROCESS = f"""
import sys, time
import anyio
from amplifier_providers.limits.endpoint import KnownLimit, endpoint_of
from amplifier_providers.limits.rate_file import RateFile
from amplifier_providers.wire.load import Load
from amplifier_providers.wire.settings import HttpSettings

path, what, url = sys.argv[1:]

async def emit(event, data):
    print(event, data["reason"])

async def sleep(seconds):
    print("waits", 0 < seconds <= 7)

async def main():
    endpoint = endpoint_of(url, ("key",))
    settings = HttpSettings(rate_limit_state_path=path, throttle_delay=7.0)
    load = Load("p", settings, endpoint, emit, sleep=sleep)
    if what == "answered":
        await load.note({HEADERS!r})
    elif what == "calls":
        (await load.enter("m")).leave()
    else:
        file, now = RateFile(path), time.time()
        sys.stdin.readline()
        for number in range(100):
            known = KnownLimit(100, number, now + 1000, now + number / 1000)
            file.write(url, {{"tokens": known, f"kind-{{number % 7}}": known}}, now + 1)

anyio.run(main)
"""


def process(path: Path, what: str, url: str = "https://api.example.com") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROCESS, str(path), what, url],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def said(running: subprocess.Popen[str]) -> list[str]:
    out, error = running.communicate(timeout=60)
    assert (running.returncode, error) == (0, "")
    return out.splitlines()


def test_a_process_waits_for_the_limit_that_another_one_heard_of(tmp_path: Path) -> None:
    path = tmp_path / "limits.json"
    assert said(process(path, "answered")) == []
    assert said(process(path, "calls")) == [
        "provider:throttle 3 of 1000 tokens left", "waits True",
    ]  # fmt: skip
    assert said(process(path, "calls", "https://other.example.com")) == []


# Holds: failure-16
def test_processes_that_write_at_once_overwrite_nothing(tmp_path: Path) -> None:
    path = tmp_path / "limits.json"
    running = [process(path, "writes", url) for url in ("one", "two", "two")]
    for each in running:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    assert [said(each) for each in running] == [[], [], []]

    found = json.loads(path.read_bytes())
    assert set(found) == {"one", "two"}
    for limits in found.values():
        assert limits["tokens"][1] == 99
        assert set(limits) == {"tokens", *(f"kind-{number}" for number in range(7))}
    assert path.stat().st_mode & 0o777 == 0o600
    assert {each.name for each in tmp_path.iterdir()} == {"limits.json", ".limits.json.lock"}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_only_the_user_can_read_the_file(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        path = tmp_path / "state" / "limits.json"
        RateFile(str(path)).write("e", {"tokens": LOW}, NOW)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o077 == 0
    assert path.with_name(".limits.json.lock").stat().st_mode & 0o777 == 0o600


def test_a_file_that_others_may_read_is_replaced_by_one_that_they_may_not(tmp_path: Path) -> None:
    path = tmp_path / "limits.json"
    path.write_text("{}")
    path.chmod(0o666)
    RateFile(str(path)).write("e", {"tokens": LOW}, NOW)
    assert path.stat().st_mode & 0o777 == 0o600
    assert RateFile(str(path)).read("e", NOW) == {"tokens": LOW}


def test_of_each_limit_the_newest_is_kept(tmp_path: Path) -> None:
    file = RateFile(str(tmp_path / "limits.json"))
    newer = KnownLimit(100, 50, NOW + 30, NOW + 1)
    file.write("e", {"tokens": newer}, NOW + 1)
    file.write("e", {"tokens": LOW, "requests": LOW}, NOW + 1)
    assert file.read("e", NOW + 1) == {"tokens": newer, "requests": LOW}

    endpoint = Endpoint("e")
    endpoint.note({"tokens": newer})
    endpoint.note({"tokens": LOW})
    assert endpoint.limits == {"tokens": newer}


def test_a_server_that_names_ever_more_limits_fills_neither_memory_nor_file(
    tmp_path: Path,
) -> None:
    path = tmp_path / "limits.json"
    file, endpoint = RateFile(str(path)), Endpoint("e")
    for number in range(0, 1_000, 50):
        now = NOW + number / 1_000
        named = {
            f"kind-{number + one}": KnownLimit(9, 1, NOW + 99, now + one / 10_000)
            for one in range(50)
        }
        endpoint.note(named)
        file.write("e", named, now + 1)
    assert len(endpoint.limits) == 64
    assert list(endpoint.limits)[-1] == "kind-999"
    assert file.read("e", NOW + 3) == endpoint.limits
    assert path.stat().st_size < 10_000


def test_what_is_over_leaves_the_file(tmp_path: Path) -> None:
    path = tmp_path / "limits.json"
    file = RateFile(str(path))
    file.write("e", {"tokens": LOW}, NOW)
    assert file.read("e", NOW + 31) == {}
    file.write("f", {"tokens": KnownLimit(1, 1, NOW + 99, NOW + 31)}, NOW + 31)
    assert set(json.loads(path.read_bytes())) == {"f"}


HOSTILE = {
    "empty": b"",
    "no object": b"[]",
    "of another form": b'{"e": 1}',
    "a short entry": b'{"e": {"tokens": [1]}}',
    "no text": b"\xff\xfe\x00",
    "deep": b"[" * 500_000,
    "long": b'{"e": {}}' + b" " * 2_000_000,
    "not a number": b'{"e": {"tokens": [NaN, 1, 1030, 1000]}}',
    "infinite": b'{"e": {"tokens": [Infinity, 1, 1030, 1000]}}',
    "more than a float": b'{"e": {"tokens": [1e999, 1, 1030, 1000]}}',
    "negative": b'{"e": {"tokens": [100, -1, 1030, 1000]}}',
    "whole never": b'{"e": {"tokens": [100, 1, 1e15, 1000]}}',
    "of the future": b'{"e": {"tokens": [100, 1, 3000, 2000]}}',
    "whole already": b'{"e": {"tokens": [100, 1, 999, 900]}}',
}


async def silent(*_: Any) -> None:
    raise AssertionError("no call waits for what such a file says")


def calls(path: Path) -> None:
    """Make a call and hear an answer, with this file."""

    async def run() -> None:
        settings = HttpSettings(rate_limit_state_path=str(path))
        load = Load("p", settings, Endpoint("e"), silent, lambda: NOW, silent)
        (await load.enter("m")).leave()
        await load.note(HEADERS)

    anyio.run(run)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_of_another_form_says_nothing_and_is_written_anew(tmp_path: Path, name: str) -> None:
    path = tmp_path / "limits.json"
    path.write_bytes(HOSTILE[name])
    calls(path)
    assert RateFile(str(path)).read("e", NOW)["tokens"].remaining == 3


@given(content=st.binary(max_size=64) | st.text(max_size=64).map(str.encode))
def test_no_content_is_fatal(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("rates") / "limits.json"
    path.write_bytes(content)
    assert RateFile(str(path)).read("e", NOW) == {}


def _folder(path: Path) -> None:
    path.mkdir()


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _link(path: Path) -> None:
    path.symlink_to(path.with_name("elsewhere"))


def _lock_is_a_pipe(path: Path) -> None:
    os.mkfifo(path.with_name(f".{path.name}.lock"))
    path.mkdir()


def _lock_is_a_link(path: Path) -> None:
    path.with_name(f".{path.name}.lock").symlink_to(path.with_name("elsewhere"))


def _parent_is_a_file(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("")


@pytest.mark.parametrize(
    "place", [_folder, _pipe, _link, _lock_is_a_pipe, _lock_is_a_link, _parent_is_a_file]
)
def test_a_path_that_cannot_be_used_is_said_once(
    tmp_path: Path, place: Any, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "state" / "limits.json"
    path.parent.mkdir()
    place(path)
    file = RateFile(str(path))
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert file.read("e", NOW) == {}
            file.write("e", {"tokens": LOW}, NOW)
    assert len(caplog.messages) <= 1
    assert all(text.startswith("rate limits are not shared: `") for text in caplog.messages)
    assert not (tmp_path / "state" / "elsewhere").exists()


def test_what_a_link_names_is_neither_read_nor_written(tmp_path: Path) -> None:
    other, path = tmp_path / "other", tmp_path / "limits.json"
    RateFile(str(other)).write("e", {"tokens": LOW}, NOW)
    content = other.read_bytes()
    path.symlink_to(other)
    assert RateFile(str(path)).read("e", NOW) == {}
    RateFile(str(path)).write("f", {"tokens": LOW}, NOW)
    assert other.read_bytes() == content


def test_who_keeps_the_lock_forever_stops_no_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amplifier_providers.limits.shared_file.LOCK_SECONDS", 0.01)
    path = tmp_path / "limits.json"
    with (tmp_path / ".limits.json.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        calls(path)
        assert not path.exists()
    calls(path)
    assert path.exists()
    assert time.time() > NOW
