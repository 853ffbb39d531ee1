"""Commands that read files with secrets ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_guard import ShellDenied, ShellPolicy
from amplifier_modules.hooks.guard.settings import ShellSettings, ToolSettings
from amplifier_modules.hooks.guard.tools import ToolSinks

PROGRAMS = ["cat", "head", "grep", "rg", "sort", "git", "jq", "diff", "ls", "sed -n", "source", "."]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in (".env", ".env.example", ".aws/credentials", "a"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("A=1\n")
    (tmp_path / "notes").symlink_to(".env")
    return tmp_path


# Holds: sink-3
@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("cat .env", ".env"),
        ("cat a .env.production", ".env.production"),
        ("cat ./a/../.ENV", "./a/../.ENV"),
        ("head -n 3 pkg/.netrc", "pkg/.netrc"),
        ("grep KEY .env.local", ".env.local"),
        ("grep -f .npmrc a", ".npmrc"),
        ("rg -n KEY .envrc", ".envrc"),
        ("sort .pgpass", ".pgpass"),
        ("sed -n 1p .pypirc", ".pypirc"),
        ("jq . .docker/config.json", ".docker/config.json"),
        ("diff a keys/id_rsa", "keys/id_rsa"),
        ("cat .aws/credentials", ".aws/credentials"),
    ],
)
@pytest.mark.parametrize("has_root", [True, False])
def test_a_command_that_reads_a_file_with_secrets_asks(
    root: Path, line: str, word: str, has_root: bool
) -> None:
    policy = ShellPolicy(PROGRAMS, root=root if has_root else None)
    with pytest.raises(ShellDenied) as raised:
        policy.check(line)
    assert str(raised.value) == f"`{word}` holds secrets"


def test_a_link_to_a_file_with_secrets_asks(root: Path) -> None:
    with pytest.raises(ShellDenied, match="`notes` holds secrets"):
        ShellPolicy(PROGRAMS, root=root).check("cat notes")


@pytest.mark.parametrize("line", ["source .env", ". .env"])
def test_what_runs_a_file_with_secrets_asks(root: Path, line: str) -> None:
    with pytest.raises(ShellDenied):
        ShellPolicy(PROGRAMS, root=root).check(line)


@pytest.mark.parametrize(
    "line",
    ["cat .env.example a", "grep .env a", "cat .env.sample", "jq .env a", "ls", "cat id_rsa.pub"],
)
def test_other_files_pass(root: Path, line: str) -> None:
    assert ShellPolicy(PROGRAMS, root=root).check(line)


async def test_the_guard_of_a_session_asks_about_a_file_with_secrets(root: Path) -> None:
    sinks = ToolSinks(ToolSettings(shell=ShellSettings(allow=("cat",), root=str(root))))
    answer = await sinks.judge("bash", {"command": "cat .env"})
    assert answer is not None
    assert answer.action == "ask_user"
    assert "`.env` holds secrets" in (answer.approval_prompt or "")
