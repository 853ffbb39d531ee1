"""What the command says when it is called wrongly, or only asked for help."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_app.command_line import run_command
from amplifier_app.commands.default_command import CommandLine
from amplifier_app.commands.meant_commands import find_meant


def run(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run_command(arguments)
    out, err = capfd.readouterr()
    return code, out, err


def test_help_names_every_option_variable_and_exit_code(capfd: Any) -> None:
    code, out, err = run(capfd, "run", "--help")
    assert (code, err) == (0, "")
    for word in (
        "PROMPT",
        "-C, --directory",
        "-q, --quiet",
        "--json",
        "--model",
        "--system TEXT",
        "--system-file FILE",
        "--verbose",
        "--debug",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "AMPLIFIER_DEBUG",
        "NO_COLOR",
        "Examples:",
        "3    The answer was cut short (max_tokens)",
        "129",
        "130",
        "141",
        "143",
    ):
        assert word in out


def test_without_a_command_it_shows_help(capfd: Any) -> None:
    code, out, err = run(capfd)
    assert (code, err) == (0, "")
    assert out.startswith("Usage: amplifier-core [OPTIONS] [COMMAND]")


def test_the_first_help_fits_a_screen_and_begins_with_run(capfd: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = run(capfd, "--help")
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert len(lines) <= 23  # and the prompt after it
    assert max(map(len, lines)) <= 79
    assert lines[lines.index("Commands:") + 1].split()[0] == "run"
    for word in ("list-modules", "validate", "list-types", "ANTHROPIC_API_KEY", "run --help"):
        assert word in out


def test_python_can_run_the_package_as_the_command(tmp_path: Path) -> None:
    def ended(*arguments: str) -> tuple[int, str, str]:
        command = [sys.executable, "-m", "amplifier_core", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    (tmp_path / "click.py").write_text("raise SystemExit('imported from the folder')")
    code, out, err = ended("--help")
    assert (code, err) == (0, "")
    assert out.startswith("Usage: amplifier-core [OPTIONS] [COMMAND]")
    assert ended("--version") == (0, "amplifier-core 3.0.0\n", "")
    assert ended("rnu", "hello") == (2, "", "error: no such command `rnu`; did you mean `run`?\n")


def test_version(capfd: Any) -> None:
    assert run(capfd, "--version") == (0, "amplifier-core 3.0.0\n", "")


BOTH = "`--system` and `--system-file` are both given; choose one"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["run", "--jsn", "x"], "no such option `--jsn`; did you mean `--json`?"),
        (["run", "--qqq", "x"], "no such option `--qqq`; see `amplifier-core run --help`"),
        (["rnu", "x"], "no such command `rnu`; did you mean `run`?"),
        (["run", "a", "b"], "got unexpected extra argument (b); put the prompt in quotes"),
        (["run", "-C"], "option `-C` requires an argument; see `amplifier-core run --help`"),
        (["run"], "no prompt given; put it in quotes, or pass `-` to read it from standard input"),
        (
            ["run", " "],
            "no prompt given; put it in quotes, or pass `-` to read it from standard input",
        ),
        (
            ["session", "list", "-C", "nowhere"],
            "the folder `nowhere` does not exist; check the path given to `--directory`",
        ),
        (["run", "-C", "file", "x"], "`file` is a file; pass a folder to `--directory`"),
        (["-C", "file", "x"], "`file` is a file; pass a folder to `--directory`"),
        (["x", "-Cfile"], "`file` is a file; pass a folder to `--directory`"),
        (["a", "b"], "got unexpected extra argument (b); put the prompt in quotes"),
        (["x", "--jsn"], "no such option `--jsn`; did you mean `--json`?"),
        (
            ["-q", "-v", "x"],
            "`--quiet` and `--verbose` exclude each other; see `amplifier-core run --help`",
        ),
        (
            ["sessions"],
            (
                "`sessions` is no command; did you mean `amplifier-core session`? `amplifier-core -- sessions`"
                " sends it to the model"
            ),
        ),
        (
            ["-q", "Resume"],
            (
                "`Resume` is no command; `amplifier-core --resume` goes on with a session; `amplifier-core --"
                " Resume` sends it to the model"
            ),
        ),
        (
            ["resum"],
            (
                "`resum` is no command; `amplifier-core --resume` goes on with a session; `amplifier-core --"
                " resum` sends it to the model"
            ),
        ),
        (
            ["exit"],
            (
                "`exit` is no command; there is no conversation to end; `amplifier-core -- exit` sends it to"
                " the model"
            ),
        ),
        (
            ["-q", "resume", "1b9d6bcd"],
            "`resume` is no command; `amplifier-core --resume` goes on with a session",
        ),
        (["-x", "y"], "no such option `-x`; see `amplifier-core run --help`"),
        (
            ["--sandbox", "read-only", "x"],
            (
                "no such option `--sandbox`; commands run in one by themselves; `--mode read-only` lets nothing"
                " be changed"
            ),
        ),
        (
            ["session", "remove", "x"],
            "no such command `remove`; `amplifier-core session delete SESSION` deletes it",
        ),
        (
            ["module", "list"],
            (
                "`module` is no command; `amplifier-core list-modules` lists them, `amplifier-core validate"
                " MODULE` checks one"
            ),
        ),
        (["--system", "a", "--system-file", "file", "x"], BOTH),
        (
            ["--system-file", "file", "x"],
            "the file `file` is empty; write the system prompt into it",
        ),
        (
            ["--system-file", "none", "x"],
            (
                "the file `none` cannot be read: No such file or directory; check the path given to"
                " `--system-file`"
            ),
        ),
    ],
)
def test_wrong_usage_is_one_line(
    capfd: Any, tmp_path: Path, monkeypatch: Any, arguments: list[str], line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    assert run(capfd, *arguments) == (2, "", f"error: {line}\n")


@pytest.mark.parametrize("word", ["hello", "run", "-", "sessions.txt", "weiter", "why?"])
def test_a_word_that_is_like_no_command_is_a_prompt(word: str) -> None:
    assert find_meant(word, ["run", "session", "validate"]) == ""


@pytest.mark.parametrize(
    ("arguments", "completed"),
    [
        (["hello"], ["run", "hello"]),
        (["--json", "hello"], ["run", "--json", "hello"]),
        (["hello", "--json"], ["run", "hello", "--json"]),
        (["-C", "validate", "hello"], ["run", "-C", "validate", "hello"]),
        (["-qC", "run", "hello"], ["run", "-qC", "run", "hello"]),
        (["-Cfolder", "list-modules"], ["list-modules", "-Cfolder"]),
        (["run", "validate"], ["run", "validate"]),
        (["validate"], ["validate"]),
        (["validate", "--json", "x"], ["validate", "--json", "x"]),
        (["--json", "run", "hello"], ["run", "--json", "hello"]),
        (["--model=x", "hello"], ["run", "--model=x", "hello"]),
        (["--", "validate"], ["run", "--", "validate"]),
        (["-q", "--", "--json"], ["run", "-q", "--", "--json"]),
        (["-"], ["run", "-"]),
        (["--json"], ["run", "--json"]),
        (["validat"], ["run", "validat"]),
        (["validat", "plan.toml"], ["validat", "plan.toml"]),
        (["--help"], ["--help"]),
        (["--version"], ["--version"]),
        ([], []),
    ],
)
def test_a_prompt_without_a_command_is_run(arguments: list[str], completed: list[str]) -> None:
    given = CommandLine(arguments, {"-C", "--directory", "--model"})
    assert given.with_command(["run", "validate", "list-modules"], "run") == completed


def test_a_value_is_no_option_and_what_follows_two_dashes_neither() -> None:
    given = CommandLine(["-C", "--json", "-q", "x", "--", "--json"], {"-C"})
    assert given.options == ["-C", "-q"]


def test_an_escape_in_an_argument_does_not_reach_the_terminal(capfd: Any) -> None:
    _, _, err = run(capfd, "session", "list", "-C", "\x1b[2J\nerror: forged")
    assert "\x1b" not in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("stdin", "code", "line"),
    [
        (b"", 2, "standard input is empty; pipe the prompt into it"),
        (b" \n", 2, "standard input is empty; pipe the prompt into it"),
        (b"caf\xe9", 1, "standard input is not UTF-8 text (byte 3); convert it first"),
    ],
)
def test_unusable_standard_input_is_one_line(
    command: Any, stdin: bytes, code: int, line: str
) -> None:
    done = command("run", "-", input=stdin)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", f"error: {line}\n")


def test_a_closed_standard_input_is_one_line(command: Any) -> None:
    done = subprocess.run(
        ["sh", "-c", f'exec "{sys.executable}" -m amplifier_app.cli run - <&-'],
        capture_output=True,
        check=False,
        env=command.environment,
        text=True,
    )
    line = "standard input cannot be read: it is closed; pass the prompt as an argument"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"error: {line}\n")


def test_a_missing_extension_is_one_line(command: Any, tmp_path: Path) -> None:
    """The packages without the extension, as on a platform that has no wheel."""
    source = Path(command.environment["PYTHONPATH"])
    target = tmp_path / "bare"
    for file in source.rglob("*.py"):
        copy = target / file.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
    command.environment["PYTHONPATH"] = str(target)
    done = command("run", "x")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: the extension `amplifier_core._engine` cannot be loaded")
    assert done.stderr.endswith("; install a wheel of amplifier-core for this platform\n")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every folder")
def test_an_unreadable_folder_is_one_line(capfd: Any, tmp_path: Path) -> None:
    tmp_path.chmod(0)
    try:
        code, out, err = run(capfd, "run", "-C", str(tmp_path), "x")
    finally:
        tmp_path.chmod(0o700)
    assert (code, out) == (2, "")
    assert err.endswith("cannot be read: Permission denied; choose another\n")
