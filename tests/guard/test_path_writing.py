"""What `PathPolicy` writes, and how it refuses, as Python sees it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from amplifier_guard import (
    AttributeNotKept,
    PathChanged,
    PathDenied,
    PathPolicy,
    PathProtected,
    ShellDenied,
    ShellPolicy,
    log_path,
    secret_places,
)


@pytest.fixture
def links(policy: PathPolicy, make_link: Callable[[Path, str], None]) -> None:
    """Links in the root: `out`, which leads out of it, and `near`, which does not."""
    for name, target in {"out": "../secret", "near": "src/main.rs"}.items():
        make_link(Path(policy.root, name), target)


@pytest.fixture
def policy(tmp_path: Path) -> PathPolicy:
    (tmp_path / "secret").write_bytes(b"old")
    root = tmp_path / "proj"
    (root / "src").mkdir(parents=True)
    (root / "src/main.rs").write_bytes(b"old")
    os.link(tmp_path / "secret", root / "hard")
    return PathPolicy(root)


@pytest.mark.usefixtures("links")
def test_files_are_written_where_their_path_leads(policy: PathPolicy) -> None:
    assert policy.writable("docs/deep/page.md") == "docs/deep/page.md"
    assert not Path(policy.root, "docs").exists()
    assert policy.write("docs/deep/page.md", b"new") == "docs/deep/page.md"
    assert policy.write(Path(policy.root, "near"), b"") == "src/main.rs"
    assert policy.read("docs/deep/page.md", 9) == b"new"
    assert policy.read("src/main.rs", 9) == b""


# Holds: sink-9
@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("../secret", PathDenied),
        ("out", PathDenied),
        ("hard", PathDenied),
        ("C:\\x", PathDenied),
        ("a\0", PathDenied),
        ("caf\udce9", PathDenied),
        (".GIT/hooks/pre-commit", PathProtected),
        (".claude/settings.json", PathProtected),
        (".", IsADirectoryError),
        ("src", IsADirectoryError),
        ("near/x", NotADirectoryError),
        ("x" * 256, OSError),
    ],
)
def test_a_write_that_is_refused_changes_nothing(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    policy: PathPolicy,
    path: str,
    error: type[Exception],
) -> None:
    if path in {"out", "near/x"}:
        request.getfixturevalue("links")
    before = sorted(tmp_path.rglob("*"))
    for attempt in (
        policy.writable,
        lambda path: policy.write(path, b"new"),
        lambda path: policy.replace(path, b"new"),
        lambda path: policy.create(path, b"new"),
    ):
        with pytest.raises(error) as raised:
            attempt(path)
        assert type(raised.value) is error
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "secret").read_bytes() == b"old"


def test_a_person_may_let_a_protected_name_be_written(policy: PathPolicy) -> None:
    assert policy.write(".claude/settings.json", b"{}", protected=True) == ".claude/settings.json"
    assert policy.read(".claude/settings.json", 9) == b"{}"


RUNS_LATER = """venv/bin/python env/bin/activate ENV/x .venv/x odd/name/lib/a.py src/__pycache__/a.pyc
node_modules/a/index.js .git/hooks/pre-commit store.git/hooks/update .git/modules/x/hooks/pre-push
CLAUDE.md docs/AGENTS.md GEMINI.md mcp.json .mcp.json .github/copilot-instructions.md Vagrantfile Tiltfile
devbox.json flake.nix deno.json tox.ini tests/conftest.py eslint.config.mjs jest.config.ts
web/package.json""".split()  # noqa: SIM905


# Holds: sink-10
@pytest.mark.parametrize("path", RUNS_LATER)
def test_a_file_that_runs_later_asks_before_it_is_written(policy: PathPolicy, path: str) -> None:
    root = Path(policy.root)
    for name in ("odd/name/pyvenv.cfg", "store.git/HEAD", "store.git/objects/x"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")
    for spelled in (path, path.upper(), path.title()):
        if spelled == path or not path.startswith(("odd", "store")):  # folders that are there
            with pytest.raises(PathProtected):
                policy.write(spelled, b"new")
    assert policy.write(path, b"new", protected=True) == path
    shell = ShellPolicy(["echo", "cat", "cp", "mv", "tee", "sed", "git diff"], root=root)
    for line in (
        f"echo x > {path}",
        f"cat README.md >> {path}",
        f"cp README.md {path}",
        f"mv README.md {path}",
        f"echo x | tee {path}",
        f"sed -i s/a/b/ {path}",
        f"git diff --output={path}",
    ):
        with pytest.raises(ShellDenied):
            shell.check_line(line)


@pytest.mark.parametrize(
    "path",
    ["src/hooks/useTitle.ts", "docs/env.md", "environment/a.py", "pyproject.toml", "Makefile", "a.nix"],
)  # fmt: skip
def test_a_name_that_only_looks_like_one_is_written(policy: PathPolicy, path: str) -> None:
    assert policy.write(path, b"new") == path


def test_a_log_tells_a_path_without_its_owner() -> None:
    assert log_path("/home/me/proj/a/../b", root="/home/me/proj", home="/home/me") == "b"
    assert log_path("/home/me/x\n", root="/home/me/proj", home="/home/me") == "~/x\\n"
    assert log_path("/etc/x") == "/etc/x"


# Holds: sink-60
@pytest.mark.usefixtures("links")
def test_a_file_is_replaced_whole_if_it_is_what_was_read(policy: PathPolicy) -> None:
    main = Path(policy.root, "src/main.rs")
    main.chmod(0o640)
    assert policy.replace("near", b"new", expected=b"old") == "src/main.rs"
    assert (policy.read("src/main.rs", 9), main.stat().st_mode & 0o777) == (b"new", 0o640)
    with pytest.raises(PathChanged, match="`near` has another content, so it was not changed"):
        policy.replace("near", b"newer", expected=b"old")
    with pytest.raises(PathChanged, match="`near` exists already, so it was not changed"):
        policy.create("near", b"newer")
    assert policy.replace("near", b"newer") == "src/main.rs"
    assert policy.create("docs/deep/page.md", b"new") == "docs/deep/page.md"
    assert os.listdir(Path(policy.root, "src")) == ["main.rs"]
    assert os.listdir(Path(policy.root, "docs/deep")) == ["page.md"]


def test_what_cannot_be_kept_is_a_refusal_of_a_path() -> None:
    assert issubclass(AttributeNotKept, PathDenied)
    assert issubclass(PathChanged, OSError)


# Holds: sink-65
@pytest.mark.usefixtures("links")
def test_a_file_is_renamed_and_removed_if_it_is_what_was_read(policy: PathPolicy) -> None:
    root = Path(policy.root)
    (root / "src/main.rs").chmod(0o750)
    mode = (root / "src/main.rs").stat().st_mode
    assert policy.rename("src/main.rs", "new/main.rs", expected=b"old") == "new/main.rs"
    assert (root / "new/main.rs").stat().st_mode == mode
    (root / "src/main.rs").write_bytes(b"newer")
    with pytest.raises(PathChanged, match=r"`src/main\.rs` has another content"):
        policy.remove("src/main.rs", expected=b"old")
    with pytest.raises(PathChanged, match=r"`new/main\.rs` exists already"):
        policy.rename("src/main.rs", "new/main.rs")
    with pytest.raises(PathDenied, match="`near` is a link, not a regular file"):
        policy.remove("near")
    with pytest.raises(PathProtected):
        policy.rename("src/main.rs", ".git/hooks/pre-commit")
    assert policy.remove("src/main.rs", expected=b"newer") == "src/main.rs"
    assert os.listdir(root / "src") == []
    assert os.listdir(root / "new") == ["main.rs"]


# Holds: sink-66
def test_what_holds_secrets_is_listed_from_the_root(policy: PathPolicy) -> None:
    root = Path(policy.root)
    for name in (".ssh/id_rsa", "a/.env", "a/.env.example", ".git/.env"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")
    assert policy.find_secrets() == [".ssh", "a/.env"]
    assert policy.find_secrets(Event()) == [".ssh", "a/.env"]


# Holds: sink-67
def test_places_with_secrets_are_named_where_they_are(tmp_path: Path) -> None:
    (tmp_path / ".config/gh").mkdir(parents=True)
    (tmp_path / ".netrc").write_bytes(b"")
    home = tmp_path.resolve()
    found = [place for place in secret_places(tmp_path) if home in Path(place).parents]
    assert found == [str(home / ".config/gh"), str(home / ".netrc")]
