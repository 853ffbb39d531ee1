"""`amplifier-core mcp login` and `logout`, in the browser and without one."""

from __future__ import annotations

import io
import json
import queue
import sys
import webbrowser
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

pytest.importorskip("mcp")
sys.path.insert(0, str(Path(__file__).parents[1] / "modules" / "tool_mcp"))

from authorization_server import Authority, serve_protected

from amplifier_app.cli import main
from amplifier_app.commands.mcp import login


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture(scope="module")
def url(authority: Authority) -> Iterator[str]:
    with serve_protected(authority) as url:
        yield url


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's states."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "amplifier-core" / "mcp-logins"


def open_page(url: str) -> bool:
    httpx2.get(url, follow_redirects=True, trust_env=False)
    return True


# Holds: mcp-52
def test_a_server_is_logged_in_to_by_its_name_and_logged_out_of(
    url: str,
    authority: Authority,
    state: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BROWSER", "a-browser")
    monkeypatch.setattr(webbrowser, "open", open_page)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    file = tmp_path / "config" / "amplifier-core" / "mcp.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"mcpServers": {"tickets": {"url": url}}}))
    words = ["tickets", "-C", str(tmp_path)]

    assert main(["mcp", "login", *words]) == 0
    shown = capsys.readouterr()
    [kept] = state.glob("*.json")
    secrets = json.loads(kept.read_text())["secrets"]
    assert shown.out == "logged in to `tickets`; its tokens are in a file that only you can read\n"
    assert shown.err.startswith("the browser opens to log in to `tickets`; if it does not, open:\n")
    assert not [each for each in secrets.values() if each in shown.out + shown.err]

    assert [main(["mcp", "logout", *words]) for _ in range(2)] == [0, 1]
    shown = capsys.readouterr()
    assert shown.out == "logged out of `tickets`\n"
    assert shown.err == "error: there is no login to `tickets`\n"
    assert secrets["refresh_token"] not in authority.refresh


# Holds: mcp-52
def test_without_a_browser_the_address_is_written_and_the_answer_is_pasted(
    url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: queue.Queue[str] = queue.Queue()

    class Pasting(io.StringIO):
        def readline(self, size: int = -1) -> str:
            answer = httpx2.get(shown.get(timeout=30), trust_env=False)
            return answer.headers["location"] + "\n"

    def take(text: str) -> None:
        shown.put(text.strip())

    def refuse(url: str) -> bool:
        raise AssertionError(url)

    monkeypatch.setattr(login, "write_notice", take)
    monkeypatch.setattr(sys, "stdin", Pasting())
    monkeypatch.setattr(webbrowser, "open", refuse)

    assert main(["mcp", "login", "--no-browser", url]) == 0
    assert capsys.readouterr().out.startswith(f"logged in to `{url}`")


# Holds: mcp-52
@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            {},
            "there is no MCP server `tickets`; see `amplifier-core mcp list`, or give its address",
        ),
        (
            {"tickets": {"command": "npx"}},
            "the MCP server `tickets` is started here, and needs no login",
        ),
        (
            {"tickets": {"url": "https://x/", "headers": {"Authorization": "Bearer x"}}},
            (
                "the MCP server `tickets` has a key of its own; take `Authorization` out of its"
                " `headers` to use a login"
            ),
        ),
        ({"tickets": {"url": "${NO_SUCH}"}}, "the variable `NO_SUCH` is not set"),
        (None, "cannot be used: it has no object `mcpServers`"),
    ],
)
def test_a_server_that_takes_no_login_says_why(
    written: object, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "servers.json"
    file.write_text(json.dumps({"mcpServers": written} if written is not None else {}))

    assert main(["mcp", "login", "tickets", "--mcp-config", str(file)]) in (1, 2)
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert said in line
