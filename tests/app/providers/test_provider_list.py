"""`amplifier-core provider list` says where each key is, and never what it is."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from terminal import Terminal

from amplifier_app.commands.provider_choice import PROVIDERS

WHERE = "check where it is redirected to"
KEY = "zq-Hk3+of_this=service"


def listed(command: Any) -> dict[str, Any]:
    done = command("provider", "list", "--json")
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)
    assert KEY not in done.stdout
    return json.loads(done.stdout)


def test_every_provider_that_can_be_chosen_is_listed(command: Any) -> None:
    data = listed(command)
    assert [each["name"] for each in data["providers"]] == list(PROVIDERS)
    assert data["default"] == "demo"
    assert data["error"] is None
    for each in data["providers"]:
        provider = PROVIDERS[each["name"]]
        assert each["key_variables"] == list(provider.variables)
        assert each["default_model"] == (provider.model or None)
        assert each["variable"] is None
        expected = "missing" if provider.needs_key else "optional"
        assert each["key"] == (expected if provider.variables else "none needed")


def test_a_key_is_in_the_environment_or_else_in_the_keyring(command: Any, ring: Any) -> None:
    ring.keep(openai=KEY, groq=KEY)
    command.environment |= {"GROQ_API_KEY": KEY, "AZURE_OPENAI_KEY": KEY, "XAI_API_KEY": " "}
    data = listed(command)
    found = {each["name"]: (each["key"], each["variable"]) for each in data["providers"]}
    assert found["openai"] == ("keyring", None)
    assert found["groq"] == ("environment", "GROQ_API_KEY")
    assert found["azure-openai"] == ("environment", "AZURE_OPENAI_KEY")
    assert found["openai-chat"] == ("optional", None)
    assert found["xai"] == ("missing", None)
    assert data["default"] == "openai"


def test_people_get_a_table_that_fits_their_terminal(command: Any, ring: Any) -> None:
    ring.keep(mistral=KEY)
    command.environment |= {"ANTHROPIC_API_KEY": KEY, "TERM": "xterm-256color"}
    terminal = Terminal(command, "provider", "list")
    assert terminal.wait() == 0
    lines = terminal.screen.splitlines()
    assert lines[0].split() == ["PROVIDER", "DEFAULT", "MODEL", "KEY", "VARIABLE", "KEY"]
    assert max(map(len, lines)) < 80
    assert "anthropic        claude-sonnet-5-5  ANTHROPIC_API_KEY     in the environment" in lines
    assert "mistral          -                  MISTRAL_API_KEY       in the keyring" in lines
    assert "                                    AZURE_OPENAI_KEY" in lines
    assert "ollama           -                  OLLAMA_API_KEY        not set (Cloud only)" in lines
    assert lines[-1] == "without `--model`, `anthropic` answers"
    assert "\x1b" not in terminal.written
    assert KEY not in terminal.written


def test_the_first_hour_is_told_what_to_do(command: Any, ring: Any) -> None:
    command.environment["TERM"] = "xterm-256color"
    terminal = Terminal(command, "provider", "list")
    assert terminal.wait() == 0
    assert terminal.screen.splitlines()[-2:] == [
        "without `--model`, `demo` answers",
        "`amplifier-core provider key set NAME` keeps the key of a provider",
    ]


@pytest.mark.parametrize("fault", ["locked", "broken", "leaving"])
def test_a_keyring_that_fails_is_said_once(command: Any, ring: Any, fault: str) -> None:
    ring.fail(fault)
    done = command("provider", "list")
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("warning: the system keyring cannot be used: ")
    assert "groq             -                  GROQ_API_KEY          not set\n" in done.stdout
    problem = json.loads(command("provider", "list", "--json").stdout)["keyring"]["problem"]
    assert problem.startswith("the system keyring cannot be used: ")


def test_a_reader_that_goes_gets_no_traceback(command: Any) -> None:
    line = " ".join([*command.line, "provider", "list", "|", "head", "-1"])
    done = subprocess.run(
        ["/bin/bash", "-c", line],
        env=command.environment, cwd=command.folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("PROVIDER ")


@pytest.mark.parametrize(
    ("redirection", "line"),
    [
        (">&-", "standard output is closed; open it to see the result"),
        (">/dev/full", f"standard output cannot be written: No space left on device; {WHERE}"),
    ],
    ids=["closed", "full"],
)
def test_output_that_cannot_be_written_is_one_line(
    command: Any, redirection: str, line: str
) -> None:
    done = subprocess.run(
        ["/bin/bash", "-c", " ".join([*command.line, "provider", "list", redirection])],
        env=command.environment, cwd=command.folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, f"error: {line}\n")


def test_the_group_alone_shows_its_help(command: Any) -> None:
    for arguments in (["provider"], ["provider", "key"]):
        done = command(*arguments)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == command(*arguments, "--help").stdout


def test_a_name_that_is_almost_right_is_helped(command: Any) -> None:
    for arguments, line in (
        (["providers", "list"], "no such command `providers`; did you mean `provider`?"),
        (["provider", "lst"], "no such command `lst`; did you mean `list`?"),
        (["provider", "models", "opnai"], "there is no provider `opnai`; did you mean `openai`?"),
        (
            ["provider", "test", "nothing"],
            "there is no provider `nothing`; see `amplifier-core provider list`",
        ),
    ):
        done = command(*arguments)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"error: {line}\n")
