"""Whole turns with each provider against its strict server, from the command line."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from terminal import Terminal

from amplifier_testing.servers import (
    Answer,
    AnthropicServer,
    Call,
    ChatServer,
    Fault,
    ModelServer,
    OllamaModel,
    OllamaServer,
    ResponsesServer,
    Thinking,
)

TURN = (
    Answer(
        Thinking("I look around."),
        Call("list_directory", {}),
        Call("grep", {"pattern": "TODO"}),
    ),
    Answer(Thinking("There is one."), "There is **one** TODO."),
)


@dataclass(frozen=True)
class Flow:
    """A provider on the command line."""

    title: str
    model: str
    key_variable: str
    address_variable: str
    """Empty where a module gets the address."""
    server: Callable[..., ModelServer]
    address: str = "url"
    """The attribute of the server that has the address."""
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What else its module gets."""

    @property
    def module(self) -> str:
        return f"provider-{self.model.partition(':')[0]}"


def vendor(name: str) -> Callable[..., ModelServer]:
    return lambda *arguments, **options: ChatServer(*arguments, preset=name, **options)


FLOWS = {
    "anthropic": Flow(
        "Anthropic", "anthropic:claude-opus-4-6", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL",
        AnthropicServer,
    ),
    "openai": Flow(
        "OpenAI", "openai:gpt-5.5", "OPENAI_API_KEY", "OPENAI_BASE_URL", ResponsesServer
    ),
    "azure-openai": Flow(
        "Azure OpenAI", "azure-openai:gpt-5.5", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT",
        ResponsesServer, "azure_url",
    ),
    "openai-chat": Flow(
        "Chat Completions", "openai-chat:qwen3:8b", "OPENAI_API_KEY", "OPENAI_BASE_URL",
        vendor("template"),
    ),
    "deepseek": Flow(
        "DeepSeek", "deepseek:deepseek-chat", "DEEPSEEK_API_KEY", "", vendor("deepseek")
    ),
    "mistral": Flow("Mistral", "mistral:magistral", "MISTRAL_API_KEY", "", vendor("mistral")),
    "ollama": Flow(
        "Ollama", "ollama:qwen3:8b", "OLLAMA_API_KEY", "OLLAMA_HOST", OllamaServer,
        config={"enable_thinking": True},
    ),
}  # fmt: skip
KEY = "sk-of-this-service-alone"


@pytest.fixture(params=FLOWS)
def flow(request: pytest.FixtureRequest) -> Flow:
    return FLOWS[request.param]


@pytest.fixture
def server(flow: Flow) -> Iterator[ModelServer]:
    with flow.server(TURN, api_key=KEY) as running:
        yield running
        assert running.refusals == []


@pytest.fixture
def options(flow: Flow, server: ModelServer, command: Any) -> list[str]:
    """The options with which the command asks the server; its environment is set up."""
    (command.folder / "notes.txt").write_text("one\nTODO two\n")
    command.environment |= {flow.key_variable: KEY, "TERM": "xterm-256color"}
    command.environment["PROVIDER_PRICES"] = '{"*": {"input": 0, "output": 0}}'
    given = ["--model", flow.model]
    config = dict(flow.config)
    if flow.address_variable:
        command.environment[flow.address_variable] = getattr(server, flow.address)
    else:
        config["base_url"] = server.url
    return [*given, *(["--module", f"{flow.module}={json.dumps(config)}"] if config else [])]


def test_two_tools_and_an_answer_in_a_pipe(
    command: Any, server: ModelServer, options: list[str]
) -> None:
    done = command(*options, "Where is the TODO?")
    assert (done.returncode, done.stdout, done.stderr) == (0, "There is **one** TODO.\n", "")
    assert len(server.requests) == 2


def test_two_tools_and_an_answer_as_json(
    command: Any, server: ModelServer, options: list[str], outcome_of: Any, flow: Flow
) -> None:
    done = command(*options, "--json", "Where is the TODO?")
    assert (done.returncode, done.stderr) == (0, "")
    outcome = outcome_of(done.stdout)
    assert (outcome["status"], outcome["text"]) == ("completed", "There is **one** TODO.")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    called = [line["data"]["tool_name"] for line in lines if line["event"] == "tool:post"]
    assert sorted(called) == ["grep", "list_directory"]
    asked = [line["data"] for line in lines if line["event"] == "llm:request"]
    assert [each["provider"] for each in asked] == [flow.module.removeprefix("provider-")] * 2
    assert KEY not in done.stdout


def test_thinking_tools_and_the_answer_are_shown_in_a_terminal(
    command: Any, server: ModelServer, options: list[str]
) -> None:
    terminal = Terminal(command, "Where is the TODO?", *options)
    assert terminal.wait() == 0
    screen = terminal.screen
    for line in (
        "│ I look around.",
        "● 1 list_directory()",
        '● 2 grep(pattern="TODO")',
        "  ✓ 1 list_directory: 1 entry",
        "  ✓ 2 grep: 1 match in 1 file",
        "│ There is one.",
        "There is one TODO.",
    ):
        assert line in screen
    assert "Traceback" not in terminal.written
    assert "error:" not in terminal.written


def test_ctrl_c_in_a_stream_keeps_what_there_is(
    command: Any, server: ModelServer, options: list[str], outcome_of: Any
) -> None:
    story = "Once upon a time. " * 400
    server.answers, server.faults = [Answer(story)], [Fault(pause=0.02)]
    process = subprocess.Popen(
        [*command.line, *options, "--json", "hello"],
        cwd=command.folder,
        env=command.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        lines = [process.stdout.readline()]
        while "content_block:delta" not in lines[-1]:
            assert lines[-1]
            lines.append(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        lines.extend(process.stdout)
        assert process.stderr.read() == "stopping now\n"
    assert process.returncode == 130
    outcome = outcome_of("".join(lines))
    assert (outcome["status"], outcome["reason"]) == ("cancelled", "interrupted")
    assert outcome["text"]
    assert story.startswith(outcome["text"])


FAULTS: dict[str, tuple[Fault, str, str]] = {
    "401": (
        Fault(status=401),
        "{title} API error (401 ",
        "AuthenticationError: the key was refused; check `{key}`",
    ),
    "403": (
        Fault(status=403),
        "{title} API error (403 ",
        "AccessDeniedError: the key lacks access; check its permissions",
    ),
    "404": (
        Fault(status=404),
        "{title} API error (404 ",
        "NotFoundError: check the name of the model and `{address}`; `{lists}` lists the models",
    ),
    "408": (
        Fault(status=408),
        "{title} API error (408 ",
        "LLMTimeoutError: the server took too long; retry",
    ),
    "413": (
        Fault(status=413),
        "the request is too long for the model and cannot be made shorter: about ",
        (
            "ContextLengthError: shorten the descriptions of the tools, or use a model with a larger"
            " context window"
        ),
    ),
    "422": (
        Fault(status=422),
        "{title} API error (422 ",
        "InvalidRequestError: check the model and the settings of {module}",
    ),
    "429": (
        Fault(status=429, headers={"retry-after": "7"}),
        "{title} API error (429 ",
        "RateLimitError: too many requests; retry in 7 s",
    ),
    "429 in milliseconds": (
        Fault(status=429, headers={"retry-after-ms": "6500"}),
        "{title} API error (429 ",
        "RateLimitError: too many requests; retry in 7 s",
    ),
    "quota": (
        Fault(status=429, kind="insufficient_quota", code="insufficient_quota"),
        "{title} API error (429 insufficient_quota): ",
        "QuotaExceededError: the account has no credit left; check its billing",
    ),
    "500": (
        Fault(status=500),
        "{title} API error (500 ",
        "ProviderUnavailableError: the server is unavailable; retry later",
    ),
    "502": (
        Fault(status=502, body="html"),
        "{title} API error (502 api_error): Bad gateway",
        "ProviderUnavailableError: the server is unavailable; retry later",
    ),
    "503": (
        Fault(status=503, body="empty"),
        "{title} API error (503 api_error): HTTP status 503 without a body",
        "ProviderUnavailableError: the server is unavailable; retry later",
    ),
    "529": (
        Fault(status=529),
        "{title} API error (529 ",
        "ProviderUnavailableError: the server is unavailable; retry later",
    ),
    "redirect": (
        Fault(status=307, headers={"location": "https://example.com/"}),
        "`{url}",
        "ConfigurationError: set `{address}` to the final address",
    ),
    "page": (
        Fault(content_type="text/html"),
        "`{url}",
        "ConfigurationError: check `{address}`",
    ),
    "cut": (
        Fault(cut=700),
        "the answer of `{model}` was cut off: ",
        "StreamError: retry",
    ),
    "malformed": (
        Fault(malformed=1),
        "{title} API error (invalid_stream): ",
        "StreamError: no tool call of the answer was run; retry",
    ),
    "error in a stream": (
        Fault(error_after=1, kind="overloaded_error"),
        "{title} API error (529 overloaded_error): ",
        "ProviderUnavailableError: the server is unavailable; retry later",
    ),
    "hang up": (
        Fault(hang_up=True),
        "lost the connection to `{url}",
        "NetworkError: check `{address}` and the network",
    ),
    "silent": (
        Fault(silent=True),
        "no content of the answer of `{model}` within 0.3 s, the `content_timeout` of {module}",
        "LLMTimeoutError: retry, or raise `content_timeout`",
    ),
}


NAMING_THE_SERVICE = ("401", "404", "413", "422", "redirect", "page", "hang up", "silent")
"""Faults whose line says more of the service than its title."""
OF_A_DIALECT = ("anthropic", "openai", "openai-chat", "ollama")
"""One flow of each dialect; the others read an answer by the same code."""


def list_faults() -> Iterator[Any]:
    """Every fault in every dialect, and of further services what is said of them."""
    for name in FLOWS:
        for fault in FAULTS if name in OF_A_DIALECT else NAMING_THE_SERVICE:
            yield pytest.param(name, fault, id=f"{name}-{fault}")


@pytest.mark.parametrize(("flow", "name"), [*list_faults()], indirect=["flow"])
def test_a_fault_is_one_line_with_the_way_out(
    command: Any,
    server: ModelServer,
    options: list[str],
    flow: Flow,
    outcome_of: Any,
    name: str,
) -> None:
    fault, beginning, said = FAULTS[name]
    words = {
        "title": flow.title,
        "module": flow.module,
        "lists": f"amplifier-core provider models {flow.module.removeprefix('provider-')}",
        "model": flow.model.partition(":")[2],
        "key": flow.key_variable,
        "address": flow.address_variable or "base_url",
        "url": getattr(server, flow.address),
    }
    kind, _, hint = said.format(**words).partition(": ")
    server.faults = [fault]
    if fault.silent:
        command.environment["PROVIDER_CONTENT_TIMEOUT"] = "0.3"

    done = command(*options, "--json", "hello")

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"error: {beginning.format(**words)}")
    assert done.stderr.endswith(f"; {hint}\n")
    assert KEY not in done.stderr + done.stdout
    error = outcome_of(done.stdout)["error"]
    assert (error["type"], error["hint"]) == (kind, hint)
    assert len(server.requests) == 1
    others = {each.title for each in FLOWS.values() if each.title not in flow.title}
    assert not any(f"{other} API" in done.stderr for other in others)


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_a_key_alone_says_who_answers(command: Any, name: str) -> None:
    flow = FLOWS[name]
    with flow.server(["Hello."], api_key=KEY) as server:
        command.environment |= {flow.key_variable: KEY, flow.address_variable: server.url}
        done = command("hello")
        assert (done.returncode, done.stdout, done.stderr) == (0, "Hello.\n", "")


def test_of_two_keys_the_first_answers_and_a_line_says_so(command: Any) -> None:
    with AnthropicServer(["Hello."], api_key=KEY) as server:
        command.environment |= {
            "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url,
            "OPENAI_API_KEY": "sk-the-other-key",
        }  # fmt: skip
        done = command("hello")
    assert (done.returncode, done.stdout) == (0, "Hello.\n")
    assert done.stderr == (
        "ANTHROPIC_API_KEY and OPENAI_API_KEY are set: using claude-sonnet-5-5; `--model openai`"
        " uses gpt-5.5\n"
    )


def test_a_missing_model_of_ollama_is_downloaded_and_the_screen_says_how_far(command: Any) -> None:
    with OllamaServer(["Hello."], pullable=[OllamaModel("new:latest")]) as server:
        command.environment |= {"OLLAMA_HOST": server.url, "TERM": "xterm-256color"}
        config = json.dumps({"auto_pull": True})
        options = ["--model", "ollama:new", "--module", f"provider-ollama={config}"]
        terminal = Terminal(command, "hello", *options)
        assert terminal.wait() == 0
    for line in (
        "downloading `new`: pulling manifest",
        "downloading `new`: 0 % of 5.2 GB",
        "downloading `new`: 100 % of 5.2 GB",
        "downloading `new`: success",
        "Hello.",
    ):
        assert line in terminal.screen


def test_no_server_of_ollama_is_said_with_the_way_out(command: Any) -> None:
    with OllamaServer() as closed:
        command.environment["OLLAMA_HOST"] = closed.url
    command.environment["PROVIDER_MAX_RETRIES"] = "0"
    done = command("--model", "ollama:qwen3:8b", "hello")
    assert done.returncode == 1
    assert done.stderr.startswith("error: cannot connect to `http://127.0.0.1:")
    assert done.stderr.endswith("; is it running? `ollama serve`; its address is `OLLAMA_HOST`\n")
    assert done.stderr.count("\n") == 1


def test_a_missing_model_of_ollama_is_said_with_the_way_out(command: Any) -> None:
    with OllamaServer() as server:
        command.environment["OLLAMA_HOST"] = server.url
        done = command("--model", "ollama:new", "hello")
    assert done.returncode == 1
    assert done.stderr == (
        "error: Ollama API error (404 not_found_error): model 'new' not found; `ollama pull new`,"
        " or set `auto_pull` of provider-ollama; `amplifier-core provider models ollama` lists the"
        " models\n"
    )
