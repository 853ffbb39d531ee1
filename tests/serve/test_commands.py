"""`amplifier-core worker`, `serve` and `serve token`, as a user calls them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from amplifier_app.command_line import run_command
from amplifier_serve import Client

HELPERS = """\
from amplifier_agent import Agent, ScriptedProvider

helper = Agent(ScriptedProvider(["Hello."]))
no_agent = 1
"""


def start(*arguments: str, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "amplifier_app.cli", *arguments],
        cwd=folder,
        env={**os.environ, "XDG_STATE_HOME": str(folder / "state")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


# Holds: serve-12
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
async def test_a_worker_and_a_server_run_what_a_client_sends_and_end_when_they_are_asked_to(
    tmp_path: Path,
) -> None:
    (tmp_path / "helpers.py").write_text(HELPERS)
    server = start("serve", "--port", "0", "--store", "sessions", folder=tmp_path)
    worker = start(
        "worker", "--agent", "ann=helpers:helper", "--store", "sessions", folder=tmp_path
    )
    with server, worker:
        try:
            assert server.stdout is not None
            assert server.stderr is not None
            said = server.stdout.readline()
            address = said.removeprefix("serves at ").strip()
            token = server.stderr.readline().rpartition(": ")[2].strip()
            async with Client(address, token=token) as client:
                sent = await client.submit("Hi.", agent="ann")
                texts: list[str] = []
                async for event in client.follow_turn(sent):
                    texts += [event.text] if event.text else []
            assert texts == ["Hello."]
        finally:
            for each in (worker, server):
                each.send_signal(signal.SIGTERM)
        said, error = worker.communicate(timeout=20)
        assert (worker.returncode, server.wait(20)) == (0, 0)
    assert error == "stops; a second signal ends at once\n"
    named = f"`{sent.session_id[:8]}`"
    assert re.fullmatch(
        f"takes sessions of `ann`, 4 at once\n{named}: taken, for agent `ann`\n"
        f"{named}: turn completed in .* s\n{named}: given back\n",
        said,
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "a worker needs an `--agent` or a `--plan`"),
        (["--agent", "helpers"], "`--agent` is `helpers`"),
        (["--agent", "no_such_helpers:a"], "`no_such_helpers` cannot be imported"),
        (["--agent", "helpers:none"], "`none` of `helpers` is no agent: there is none"),
        (["--agent", "helpers:no_agent"], "is no agent: it is a `int`"),
        (["--plan", "none.toml"], "none.toml: there is no such file"),
        (["--agent", "a=helpers:helper", "--agent", "a=helpers:helper"], "two agents are called"),
    ],
)
def test_what_no_worker_can_run_is_one_line(
    arguments: list[str],
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "helpers.py").write_text(HELPERS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "helpers", raising=False)
    assert run_command(["worker", *arguments]) == 2
    monkeypatch.delitem(sys.modules, "helpers", raising=False)
    said = capsys.readouterr()
    assert said.out == ""
    assert text in said.err
    assert len(said.err.splitlines()) <= 2


# Holds: serve-6
def test_tokens_are_made_listed_and_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*arguments: str, code: int = 0) -> str:
        file = str(tmp_path / "tokens")
        assert run_command(["serve", "--token-file", file, "token", *arguments]) == code
        said = capsys.readouterr()
        return said.out or said.err

    assert run("list") == "there are no tokens\n"
    token = run("add", "ann").strip()
    assert re.fullmatch(r"amp_[\w-]{43}", token)
    (listed,) = json.loads(run("list", "--json"))
    assert (listed.keys(), listed["owner"]) == ({"id", "owner", "added"}, "ann")
    assert run("remove", "bob", code=2) == "error: no token has the id or the owner `bob`\n"
    assert run("remove", listed["id"]) == f"removed {listed['id']} of `ann`\n"
    assert run("list") == "there are no tokens\n"


def test_a_server_that_others_can_reach_needs_tokens(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "tokens")
    assert run_command(["serve", "--host", "0.0.0.0", "--port", "0", "--token-file", file]) == 2
    said = capsys.readouterr()
    assert "others can reach `0.0.0.0`, and there are no tokens" in said.err
