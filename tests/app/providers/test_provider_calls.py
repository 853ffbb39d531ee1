"""`provider models` and `provider test` ask a service, and say what came of it."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from terminal import CTRL_C, Terminal

from amplifier_testing.servers import (
    AnthropicServer,
    ChatServer,
    Fault,
    ModelServer,
    OllamaServer,
    ResponsesServer,
)
from amplifier_testing.servers.chat import PRESETS
from amplifier_testing.servers.serving.http import Reply
from amplifier_testing.servers.serving.recording import RecordingServer

KEY = "zq-Hk3+of_this=service"
COUNTED = "one two three four five six seven eight nine ten"


@pytest.fixture
def server(command: Any) -> Iterator[ModelServer]:
    """The service of OpenAI, whose key the command has."""
    with ResponsesServer([COUNTED] * 9, api_key=KEY) as running:
        command.environment |= {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": running.url}
        yield running


def of_json(done: Any) -> dict[str, Any]:
    assert done.stdout.count("\n") == 1
    assert KEY not in done.stdout + done.stderr
    return json.loads(done.stdout)


# The models.


def test_the_models_are_sorted_with_their_sizes(command: Any, server: ModelServer) -> None:
    done = command("provider", "models", "openai", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    data = of_json(done)
    names = [model["id"] for model in data["models"]]
    assert (data["provider"], data["error"]) == ("openai", None)
    assert names == sorted(names)
    assert {
        "id": "gpt-4o",
        "display_name": "gpt-4o",
        "context_window": 128_000,
        "max_output_tokens": 16_384,
        "capabilities": ["streaming", "structured_output", "tools", "vision"],
    } in data["models"]

    lines = command("provider", "models", "openai").stdout.splitlines()
    assert lines[0].split() == ["MODEL", "CONTEXT", "OUTPUT", "CAPABILITIES"]
    assert [line.split()[0] for line in lines[1:]] == names
    row = next(line.split(maxsplit=3) for line in lines if line.startswith("gpt-4o "))
    assert row == ["gpt-4o", "128k", "16k", "streaming, structured_output, tools, vision"]


LONG = "accounts/somebody/models/a-model-whose-name-is-longer-than-most-names-are-in-this-world"


def test_long_names_and_foreign_text_fit_a_terminal(
    command: Any, http_server: RecordingServer
) -> None:
    entries = [
        {"id": LONG, "context_length": 40_000, "architecture": {"input_modalities": ["image"]}},
        {"id": "b\x1b[31m", "context_length": 500, "supports_image_input": False},
        {"id": "大きい", "context_length": 2_000_000},
    ]
    command.environment |= {"GROQ_API_KEY": KEY, "TERM": "xterm-256color"}
    http_server.respond(Reply.json({"data": entries}), "/models")
    config = json.dumps({"base_url": http_server.url})
    terminal = Terminal(command, "provider", "models", "groq", "--config", config)
    assert terminal.wait() == 0
    piped = command("provider", "models", "groq", "--config", config)
    space = " " * 43
    assert terminal.screen.splitlines() == [
        f"MODEL {space} CONTEXT  OUTPUT  CAPABILITIES",
        LONG,
        f"      {space}     40k      8k  vision",
        rf"b\x1b[31m{space[3:]}     500     500  -",
        f"大きい{space}  2,000k      8k  vision",
        "3 models",
        "all of them: streaming, thinking, tools",
    ]
    assert [line.split()[0] for line in piped.stdout.splitlines()[1:]] == [
        LONG, r"b\x1b[31m", "大きい",
    ]  # fmt: skip


def test_a_service_without_models_has_an_empty_list(
    command: Any, http_server: RecordingServer
) -> None:
    command.environment |= {"GROQ_API_KEY": KEY}
    http_server.respond(Reply.json({"data": []}), "/models")
    options = [
        "provider",
        "models",
        "groq",
        "--config",
        json.dumps({"base_url": http_server.url}),
    ]
    done = command(*options)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert of_json(command(*options, "--json"))["models"] == []


# One call.


def test_one_call_is_measured(command: Any, server: ModelServer) -> None:
    server.faults = [Fault(pause=0.01)] * 2
    done = command("provider", "test", "openai", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    data = of_json(done)
    assert list(data) == [
        "provider", "model", "answered_by", "first_token_ms", "total_ms", "tokens_per_second",
        "usage", "cost_usd", "finish_reason", "error",
    ]  # fmt: skip
    assert (data["model"], data["answered_by"], data["error"]) == ("gpt-5.5", "gpt-5.5", None)
    assert 0 < data["first_token_ms"] < data["total_ms"]
    assert data["tokens_per_second"] > 0
    assert data["usage"]["output_tokens"] > 0
    (request,) = server.requests
    assert request.body["model"] == "gpt-5.5"
    assert request.body["max_output_tokens"] == 1_000

    done = command("provider", "test", "openai")
    assert (done.returncode, done.stderr) == (0, "")
    first, *lines = done.stdout.splitlines()
    assert first == "openai works: gpt-5.5 answered"
    assert [line[:14].strip() for line in lines] == [
        "first token", "whole answer", "speed", "tokens", "cost",
    ]  # fmt: skip
    assert [line[-2:] for line in lines[:2]] == ["ms", "ms"]
    assert lines[2].endswith(" tokens a second")


@pytest.mark.parametrize(
    ("cost", "shown"),
    [
        (None, "the price is not known"),
        ("0", "$0"),
        ("0.000012345", "$0.000012"),
        ("0.00042", "$0.00042"),
        ("1.5", "$1.50"),
        ("1E-7", "$0.00000010"),
    ],
)
def test_a_cost_is_a_number_without_a_power_of_ten(cost: str | None, shown: str) -> None:
    from decimal import Decimal

    from amplifier_app.commands.provider.trial import Trial, list_measurements
    from amplifier_core.message_models import ChatResponse, Usage

    usage = Usage(
        input_tokens=1, output_tokens=2, total_tokens=3,
        cost_usd=None if cost is None else Decimal(cost),
    )  # fmt: skip
    trial = Trial(ChatResponse(content=[], usage=usage), 1.0, 0.5, hears_thinking=False)
    assert dict(list_measurements(trial))["cost"] == shown


def test_hidden_thinking_is_no_speed() -> None:
    from amplifier_app.commands.provider.trial import Trial
    from amplifier_core.message_models import ChatResponse, Usage

    usage = Usage(input_tokens=1, output_tokens=110, total_tokens=111, reasoning_tokens=100)
    response = ChatResponse(content=[], usage=usage)
    assert Trial(response, 2.0, 1.0, hears_thinking=False).tokens_per_second == 10
    assert Trial(response, 2.0, 1.0, hears_thinking=True).tokens_per_second == 110
    assert Trial(response, 1.001, 1.0, hears_thinking=False).tokens_per_second is None
    assert Trial(response, 2.0, None, hears_thinking=False).tokens_per_second is None


def test_the_demo_model_can_be_tried_without_a_key(command: Any) -> None:
    done = command("provider", "test", "demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("demo works: amplifier-demo answered\n")
    done = command("provider", "models", "demo")
    assert done.stdout.splitlines()[1].startswith("amplifier-demo ")


@pytest.mark.parametrize(
    ("name", "model", "vendor"),
    [("deepseek", "deepseek-chat", "deepseek"), ("mistral", "magistral", "mistral")],
)
def test_a_service_without_a_usual_model_is_tried_with_a_named_one(
    command: Any, name: str, model: str, vendor: str
) -> None:
    command.environment[f"{name.upper()}_API_KEY"] = KEY
    with ChatServer([COUNTED], preset=vendor, api_key=KEY) as server:
        config = json.dumps({"base_url": server.url})
        done = command("provider", "test", f"{name}:{model}", "--config", config)
        assert done.returncode == 0
        assert done.stdout.startswith(f"{name} works: ")
        assert server.refusals == []


def test_a_server_of_ollama_needs_no_key_and_costs_nothing(command: Any) -> None:
    with OllamaServer([COUNTED]) as server:
        command.environment["OLLAMA_HOST"] = server.url
        listed = command("provider", "models", "ollama")
        tried = command("provider", "test", "ollama:qwen3:8b")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert "qwen3:8b" in [line.split()[0] for line in listed.stdout.splitlines()]
    assert (tried.returncode, tried.stderr) == (0, "")
    assert tried.stdout.startswith("ollama works: qwen3:8b answered\n")
    assert tried.stdout.endswith("  cost          $0\n")
    assert server.refusals == []


def test_a_model_that_the_service_renames_is_said(command: Any) -> None:
    command.environment |= {"ANTHROPIC_API_KEY": KEY}
    with AnthropicServer([COUNTED], api_key=KEY) as server:
        command.environment["ANTHROPIC_BASE_URL"] = server.url
        done = command("provider", "test", "anthropic:claude-opus-4-6")
        assert done.returncode == 0
        assert server.requests[0].body["max_tokens"] == 1_000
        assert server.refusals == []


# What goes wrong.

COMMANDS = pytest.mark.parametrize("action", ["models", "test"])
MISSING = (
    "`GROQ_API_KEY` is not set, which `groq` needs; set it, or keep the key in the system keyring with"
    " `amplifier-core provider key set groq`"
)


@COMMANDS
def test_a_missing_key_is_said_with_both_places_for_it(command: Any, action: str) -> None:
    done = command("provider", action, "groq")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"error: {MISSING}\n")
    done = command("provider", action, "groq", "--json")
    assert (done.returncode, done.stderr) == (2, f"error: {MISSING}\n")
    message, _, hint = MISSING.partition("; ")
    assert of_json(done) == {
        "provider": "groq", "error": {"type": "UsageError", "message": message, "hint": hint},
    }  # fmt: skip


def test_a_model_must_be_named_where_none_is_usual(command: Any) -> None:
    command.environment["GROQ_API_KEY"] = KEY
    done = command("provider", "test", "groq")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: `groq` has no usual model; name one: `groq:MODEL`; `amplifier-core provider models"
        " groq` lists them\n"
    )


def test_an_address_that_is_missing_is_said(command: Any) -> None:
    for action, name in (("models", "openai-chat"), ("test", "openai-chat:m")):
        done = command("provider", action, name)
        assert (done.returncode, done.stdout) == (1, "")
        assert "no address; set `OPENAI_BASE_URL`" in done.stderr
        assert done.stderr.count("\n") == 1


@COMMANDS
def test_a_wrong_key_is_one_line(command: Any, ring: Any, server: ModelServer, action: str) -> None:
    server.faults = [Fault(status=401)] * 2
    done = command("provider", action, "openai", "--json")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith("; the key was refused; check `OPENAI_API_KEY`\n")
    error = of_json(done)["error"]
    assert error["type"] == "AuthenticationError"
    assert error["hint"] == "the key was refused; check `OPENAI_API_KEY`"

    ring.keep(openai=command.environment.pop("OPENAI_API_KEY"))
    done = command("provider", action, "openai")
    assert done.returncode == 1
    assert done.stderr.endswith("; set another key: `amplifier-core provider key set openai`\n")


@COMMANDS
def test_a_server_that_is_not_there_is_one_line(command: Any, action: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        command.environment |= {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": url}
        done = command("provider", action, "openai", "--json")
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: cannot connect to `{url}/")
    assert done.stderr.endswith("; check `OPENAI_BASE_URL` and the network\n")
    assert done.stderr.count("\n") == 1
    assert of_json(done)["error"]["type"] == "NetworkError"


@COMMANDS
@pytest.mark.parametrize("fault", [None, Fault(silent=True)], ids=["closed", "silent"])
def test_a_server_that_is_asked_at_the_mount_already_is_one_line(
    command: Any, action: str, fault: Fault | None
) -> None:
    name = "ollama:qwen3:8b" if action == "test" else "ollama"
    with OllamaServer(faults=[fault] * 9 if fault else ()) as server:
        command.environment["OLLAMA_HOST"] = server.url
        if fault is not None:
            done = command("provider", action, name, "--timeout", "0.3")
    if fault is None:
        done = command("provider", action, name)
        assert done.stderr.endswith(
            "; is it running? `ollama serve`; its address is `OLLAMA_HOST`\n"
        )
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("error: ")


def test_what_a_mount_warns_of_is_said_with_the_failure_of_the_call(command: Any) -> None:
    with OllamaServer() as server:
        command.environment["OLLAMA_HOST"] = server.url
        config = json.dumps({"api": "openai", "num_ctx": 4_096})
        done = command("provider", "test", "ollama:new", "--config", config)
    warning, error = done.stderr.splitlines()
    assert "`num_ctx` has no effect" in warning
    assert error.startswith("error: ")


@COMMANDS
def test_a_server_that_does_not_answer_ends_with_the_time_out(
    command: Any, server: ModelServer, action: str
) -> None:
    server.faults = [Fault(silent=True)]
    done = command("provider", action, "openai", "--timeout", "0.3", "--json")
    assert done.returncode == 1
    assert "within 0.3 s" in done.stderr
    assert done.stderr.count("\n") == 1
    assert of_json(done)["error"]["type"] == "LLMTimeoutError"
    assert len(server.requests) <= 1


@COMMANDS
@pytest.mark.parametrize(
    ("fault", "kind", "hint"),
    [
        (Fault(status=403), "AccessDeniedError", "the key lacks access; check its permissions"),
        (
            Fault(status=429, headers={"retry-after": "7"}),
            "RateLimitError",
            "too many requests; retry in 7 s",
        ),
        (
            Fault(status=503, body="html"),
            "ProviderUnavailableError",
            "the server is unavailable; retry later",
        ),
        (
            Fault(status=307, headers={"location": "https://example.com/"}),
            "ConfigurationError",
            "set `OPENAI_BASE_URL` to the final address",
        ),
        (Fault(hang_up=True), "NetworkError", "check `OPENAI_BASE_URL` and the network"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_fault_of_a_service_is_one_line_and_not_retried(
    command: Any, server: ModelServer, action: str, fault: Fault, kind: str, hint: str
) -> None:
    del command.environment["PROVIDER_MAX_RETRIES"]
    server.faults = [fault]
    done = command("provider", action, "openai", "--json")
    assert done.returncode == 1
    assert (done.stderr.count("\n"), "Traceback" in done.stderr) == (1, False)
    assert done.stderr.endswith(f"; {hint}\n")
    error = of_json(done)["error"]
    assert (error["type"], error["hint"]) == (kind, hint)


def test_an_answer_that_breaks_off_is_no_result(command: Any, server: ModelServer) -> None:
    server.faults = [Fault(cut=700)]
    done = command("provider", "test", "openai")
    assert (done.returncode, done.stdout) == (1, "")
    assert "was cut off" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_model_that_does_not_exist_is_said_with_where_they_are_listed(
    command: Any, server: ModelServer
) -> None:
    done = command("provider", "test", "openai:no-such-model")
    assert (done.returncode, done.stdout) == (1, "")
    assert "`no-such-model`" in done.stderr or "'no-such-model'" in done.stderr
    assert done.stderr.endswith("; `amplifier-core provider models openai` lists the models\n")
    assert done.stderr.count("\n") == 1


@COMMANDS
def test_ctrl_c_is_130(command: Any, action: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        command.environment |= {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": url}
        process = subprocess.Popen(
            [*command.line, "provider", action, "openai", "--json"],
            cwd=command.folder, env=command.environment,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        with silent.accept()[0]:
            process.send_signal(signal.SIGINT)
            out, err = process.communicate()
        assert (process.returncode, err) == (130, "")
        assert json.loads(out)["error"]["type"] == "Interrupted"

        command.environment["TERM"] = "xterm-256color"
        terminal = Terminal(command, "provider", action, "openai")
        with silent.accept()[0]:
            terminal.read_until("asking openai")
            terminal.type(CTRL_C)
            assert terminal.wait() == 130
    assert "Traceback" not in terminal.written


JSON_FORM = """write it as `--config '{"base_url": "…"}'`"""
NO_KEYS = (
    "`--config` takes no `api_key`; set its variable, or keep it in the keyring, as other programs can"
    " read arguments"
)
BAD_TIMEOUT = (
    "invalid value for `--timeout`: 0 s (must be 0.001 to 86,400); see `amplifier-core provider test"
    " --help`"
)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--config", "{"], f"`--config` is not JSON; {JSON_FORM}"),
        (["--config", "[]"], f"`--config` is a `list` (must be an object); {JSON_FORM}"),
        (["--config", json.dumps({"api_key": KEY})], NO_KEYS),
        (["--timeout", "0"], BAD_TIMEOUT),
    ],
)
def test_a_wrong_option_is_one_line(
    command: Any, server: ModelServer, arguments: list[str], line: str
) -> None:
    done = command("provider", "test", "openai", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"error: {line}\n")
    assert server.requests == []


def test_a_setting_that_has_no_effect_is_a_warning(command: Any, server: ModelServer) -> None:
    done = command("provider", "test", "openai", "--config", '{"max_tokns": 5}')
    assert done.returncode == 0
    assert done.stderr == (
        "warning: provider-openai ignores the unknown config key `max_tokns` (did you mean"
        " `max_tokens`?)\n"
    )


def test_the_strict_servers_know_the_presets_of_these_tests() -> None:
    assert {"deepseek", "mistral", "template"} <= PRESETS.keys()
