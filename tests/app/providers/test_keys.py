"""Keys go into the keyring of the system and come out of it, and nobody sees them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from terminal import CTRL_C, Terminal

from amplifier_testing.servers import AnthropicServer, ChatServer, Fault, ResponsesServer

KEY = "zq-Hk3+of_this=service"
OTHER = "zq-Hk3+of_another=one"
SET = "amplifier-core provider key set"


@pytest.fixture(autouse=True)
def nobody_sees_the_key(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each run of the command fail that writes a key."""
    run = type(command).__call__

    def seen(self: Any, *arguments: str, **options: Any) -> Any:
        done = run(self, *arguments, **options)
        for key in (KEY, OTHER):
            assert key not in done.stdout + done.stderr
        return done

    monkeypatch.setattr(type(command), "__call__", seen)


@pytest.mark.parametrize("text", [KEY, f"{KEY}\n", f"  {KEY}\r\n"])
def test_a_key_is_read_from_standard_input(command: Any, ring: Any, text: str) -> None:
    done = command("provider", "key", "set", "openai", input=text.encode())
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "the key of openai is in the system keyring\n"
    assert ring.keys == {"openai": KEY}


def test_a_key_is_typed_without_being_shown(command: Any, ring: Any) -> None:
    terminal = Terminal(command, "provider", "key", "set", "groq")
    terminal.read_until("Key of groq (not shown): ")
    terminal.type(f"{KEY}\n".encode())
    assert terminal.wait() == 0
    assert "the key of groq is in the system keyring" in terminal.screen
    assert KEY not in terminal.written
    assert ring.keys == {"groq": KEY}


@pytest.mark.parametrize(("keys", "code"), [(CTRL_C, 130), (b"\x04", 2), (b"\n", 2)])
def test_nothing_is_kept_where_nothing_was_typed(
    command: Any, ring: Any, keys: bytes, code: int
) -> None:
    ring.keep(groq=OTHER)
    terminal = Terminal(command, "provider", "key", "set", "groq")
    terminal.read_until("(not shown): ")
    terminal.type(keys)
    assert terminal.wait() == code
    assert "Traceback" not in terminal.written
    assert ring.keys == {"groq": OTHER}


def test_a_key_takes_the_place_of_another_and_is_removed(command: Any, ring: Any) -> None:
    ring.keep(groq=OTHER, openai=OTHER)
    assert command("provider", "key", "set", "groq", input=KEY.encode()).returncode == 0
    assert ring.keys == {"groq": KEY, "openai": OTHER}
    done = command("provider", "key", "remove", "groq")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "the key of groq is no more in the system keyring\n"
    assert ring.keys == {"openai": OTHER}
    done = command("provider", "key", "remove", "groq")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: the system keyring has no key of groq\n"


ARGUMENT = (
    "a key is never an argument: other programs can read it, and the shell keeps it;"
    f" type it after `{SET} NAME`, or pipe it in"
)


NO_KEY = (
    "what was given is no key (must be visible ASCII characters, in one word); nothing was changed"
)


# Holds: command-8
@pytest.mark.parametrize(
    ("arguments", "typed", "line"),
    [
        (["set", "groq", KEY], b"", ARGUMENT),
        (["remove", "groq", KEY], b"", ARGUMENT),
        (
            ["set", KEY],
            b"",
            "there is no provider of this name; see `amplifier-core provider list`",
        ),
        (["set", "grok"], b"", "there is no provider `grok`; did you mean `groq`?"),
        (["set", "vllm"], b"", "`vllm` needs no key"),
        (["set", "demo"], b"", "`demo` needs no key"),
        (["set", "groq"], b"\xff", NO_KEY),
        (["set", "groq"], b" \n", "no key was given; nothing was changed"),
        (
            ["set", "groq"],
            f"{KEY} {KEY}".encode(),
            NO_KEY,
        ),
        (
            ["set", "groq"],
            "ключ".encode(),
            NO_KEY,
        ),
        (
            ["set", "groq", f"--key={KEY}"],
            b"",
            "no such option `--key`; see `amplifier-core provider key set --help`",
        ),
    ],
)
def test_what_is_no_key_is_refused(
    command: Any, ring: Any, arguments: list[str], typed: bytes, line: str
) -> None:
    done = command("provider", "key", *arguments, input=typed)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: {line}\n"
    assert ring.keys == {}


FAULTS = {
    "locked": "the system keyring cannot be used: it is locked",
    "broken": "the system keyring cannot be used: OSError: no bus for",
    "leaving": "the system keyring cannot be used: SystemExit: 3",
}


# Holds: command-8
@pytest.mark.parametrize("fault", FAULTS)
def test_a_keyring_that_fails_is_one_line(command: Any, ring: Any, fault: str) -> None:
    ring.fail(fault)
    for action in ("set", "remove"):
        done = command("provider", "key", action, "groq", input=KEY.encode())
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"error: {FAULTS[fault]}")
        assert done.stderr.endswith("; set `GROQ_API_KEY` instead\n")
        assert done.stderr.count("\n") == 1


# Holds: command-8
def test_not_even_a_traceback_shows_a_key(command: Any, ring: Any) -> None:
    command.environment["AMPLIFIER_DEBUG"] = "1"
    ring.fail("broken")
    done = command("provider", "key", "set", "groq", input=KEY.encode())
    assert "Traceback" in done.stderr
    ring.fail("")
    ring.keep(groq=KEY)
    address = json.dumps({"base_url": "http://127.0.0.1:9"})
    done = command("provider", "test", "groq:m", "--config", address, "--debug")
    assert "Traceback" in done.stderr
    assert "Connection refused" in done.stderr


def test_a_keyring_that_forgets_is_said(command: Any, ring: Any) -> None:
    command.environment["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
    done = command("provider", "key", "set", "groq", input=KEY.encode())
    assert done.returncode == 1
    assert done.stderr == (
        "error: the system keyring cannot be used: it did not keep the key; set `GROQ_API_KEY`"
        " instead\n"
    )


def test_a_system_without_a_keyring_is_said(command: Any, ring: Any) -> None:
    command.environment["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    done = command("provider", "key", "set", "groq", input=KEY.encode())
    assert done.returncode == 1
    assert done.stderr == "error: this system has no keyring; set `GROQ_API_KEY` instead\n"
    done = command("--model", "groq:m", "Hi")
    assert done.returncode == 2
    assert done.stderr == (
        "error: `GROQ_API_KEY` is not set, which `--model groq:m` needs; set it, or leave `--model` out"
        " to ask the demo model\n"
    )


def test_without_the_extra_the_command_says_how_to_get_it(command: Any, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text("import sys; sys.modules['keyring'] = None\n")
    command.environment["PYTHONPATH"] = f"{hidden}:{command.environment['PYTHONPATH']}"
    done = command("provider", "key", "set", "groq", input=KEY.encode())
    assert done.returncode == 1
    assert done.stderr == (
        "error: the system keyring needs the package `keyring`; `pip install"
        " 'amplifier-core[keyring]'`, or set `GROQ_API_KEY`\n"
    )
    assert command("Hi").returncode == 0
    listed = json.loads(command("provider", "list", "--json").stdout)
    assert listed["keyring"] == {"installed": False, "problem": None}


def test_a_variable_that_goes_before_the_keyring_is_said(command: Any, ring: Any) -> None:
    command.environment["GROQ_API_KEY"] = OTHER
    done = command("provider", "key", "set", "groq", input=KEY.encode())
    assert done.returncode == 0
    assert done.stderr == "warning: GROQ_API_KEY is set, and goes before the keyring\n"


# The turns of the command.


@pytest.mark.parametrize(
    ("name", "server_class", "address"),
    [
        ("anthropic", AnthropicServer, "ANTHROPIC_BASE_URL"),
        ("openai", ResponsesServer, "OPENAI_BASE_URL"),
    ],
)
def test_the_key_of_the_keyring_answers(
    command: Any, ring: Any, name: str, server_class: Any, address: str
) -> None:
    ring.keep(**{name: KEY})
    with server_class(["Hello."] * 3, api_key=KEY) as server:
        command.environment[address] = server.url
        done = command("Hi")
        assert (done.returncode, done.stdout, done.stderr) == (0, "Hello.\n", "")
        done = command("--model", name, "--verbose", "--json", "--debug", "Hi")
        assert done.returncode == 0
        assert json.loads(done.stdout.splitlines()[-1])["data"]["status"] == "completed"


def test_a_key_that_is_optional_is_in_the_keyring_too(command: Any, ring: Any) -> None:
    ring.keep(**{"openai-chat": KEY})
    with ChatServer(["Hello."], preset="template", api_key=KEY) as server:
        command.environment["OPENAI_BASE_URL"] = server.url
        assert command("--model", "openai-chat:qwen3:8b", "Hi").stdout == "Hello.\n"


# Holds: command-7
def test_the_config_goes_before_the_environment_and_that_before_the_keyring(
    command: Any, ring: Any
) -> None:
    ring.keep(deepseek=OTHER)
    with ChatServer(["Hello."] * 3, preset="deepseek", api_key=KEY) as server:
        config = {"base_url": server.url}
        module = f"provider-deepseek={json.dumps(config)}"
        done = command("--model", "deepseek:deepseek-chat", "--module", module, "Hi")
        assert done.returncode == 1
        assert done.stderr.endswith(
            "; set another key: `amplifier-core provider key set deepseek`\n"
        )

        command.environment["DEEPSEEK_API_KEY"] = KEY
        assert (
            command("--model", "deepseek:deepseek-chat", "--module", module, "Hi").stdout
            == "Hello.\n"
        )

        command.environment["DEEPSEEK_API_KEY"] = OTHER
        plan = command.folder / "plan.json"
        config |= {"api_key": KEY, "default_model": "deepseek-chat"}
        plan.write_text(
            json.dumps({"providers": [{"module": "provider-deepseek", "config": config}]})
        )
        assert command("--plan", str(plan), "Hi").stdout == "Hello.\n"


def test_a_provider_of_a_plan_or_of_an_option_gets_its_key_too(command: Any, ring: Any) -> None:
    ring.keep(deepseek=KEY)
    with ChatServer(["Hello."] * 3, preset="deepseek", api_key=KEY) as server:
        config = {"base_url": server.url, "default_model": "deepseek-chat"}
        module = f"provider-deepseek={json.dumps(config)}"
        assert command("--module", module, "Hi").stdout == "Hello.\n"
        plan = command.folder / "plan.json"
        plan.write_text(
            json.dumps({"providers": [{"module": "provider-deepseek", "config": config}]})
        )
        assert command("--plan", str(plan), "Hi").stdout == "Hello.\n"


# Holds: command-7
def test_the_key_of_one_service_is_not_sent_to_another(command: Any, ring: Any) -> None:
    ring.keep(openai=KEY)
    with ChatServer(["Hello."], preset="template", api_key=OTHER) as server:
        command.environment["OPENAI_BASE_URL"] = server.url
        assert command("--model", "openai-chat:qwen3:8b", "Hi").returncode == 1
        assert KEY not in json.dumps([dict(each.headers) for each in server.requests])


def test_a_key_does_not_follow_to_the_next_model_of_a_conversation(command: Any, ring: Any) -> None:
    ring.keep(anthropic=KEY, openai=OTHER)
    command.environment["TERM"] = "xterm-256color"
    with (
        AnthropicServer(["One."], api_key=KEY) as one,
        ResponsesServer(["Two."], api_key=OTHER) as two,
    ):
        command.environment |= {"ANTHROPIC_BASE_URL": one.url, "OPENAI_BASE_URL": two.url}
        terminal = Terminal(command)
        terminal.read_until("answers. /help")
        terminal.type(b"hello\r")
        terminal.read_until("One.")
        terminal.type(b"/model openai\r")
        terminal.read_until("answers from now on")
        terminal.type(b"hello\r")
        terminal.read_until("Two.")
        terminal.type(b"\x04")
        assert terminal.wait() == 0
    assert KEY not in terminal.written
    assert OTHER not in terminal.written


# Holds: command-7
def test_a_program_asks_no_keyring(command: Any, ring: Any) -> None:
    ring.keep(openai=KEY)
    program = "from amplifier_agent import Agent; Agent('openai:gpt-5.5').run_sync('Hi')"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=command.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "no API key; set `OPENAI_API_KEY`" in done.stderr


@pytest.mark.parametrize("fault", FAULTS)
def test_a_turn_without_a_model_goes_on_without_the_keyring(
    command: Any, ring: Any, fault: str
) -> None:
    ring.fail(fault)
    done = command("Hi")
    assert done.returncode == 0
    first, second = done.stderr.splitlines()
    assert first.startswith(f"warning: {FAULTS[fault]}")
    assert first.endswith("; set `ANTHROPIC_API_KEY` instead")
    assert second.startswith("neither ANTHROPIC_API_KEY nor OPENAI_API_KEY is set: using the demo")


def test_a_refused_key_of_the_environment_is_checked_there(command: Any, ring: Any) -> None:
    command.environment["DEEPSEEK_API_KEY"] = KEY
    with ChatServer(preset="deepseek", api_key=OTHER) as server:
        server.faults = [Fault(status=401)]
        config = json.dumps({"base_url": server.url})
        done = command("provider", "models", "deepseek", "--config", config)
    assert done.returncode == 1
    assert done.stderr.endswith("; the key was refused; check `DEEPSEEK_API_KEY`\n")


def test_the_keyring_is_not_imported_where_a_key_is_set(
    command: Any, ring: Any, tmp_path: Path
) -> None:
    module = tmp_path / "first" / "keyring.py"
    module.parent.mkdir()
    module.write_text("raise SystemExit('the keyring was imported')\n")
    command.environment["PYTHONPATH"] = f"{module.parent}:{command.environment['PYTHONPATH']}"
    with AnthropicServer(["Hello."], api_key=KEY) as server:
        command.environment |= {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        for line in ("--help", "run --help", "list-modules", "provider --help", "Hi"):
            done = command(*line.split())
            assert (done.returncode, done.stderr) == (0, ""), line
    # It would be noticed: nothing else hides it.
    del command.environment["ANTHROPIC_API_KEY"]
    assert "the keyring was imported" in command("Hi").stderr
