"""`python -m arcllm`: answers in the terminal and as JSON, errors in one line, exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_testing.servers import Answer, AnthropicServer, Fault, Thinking

HOSTILE = "a\x1b[31mred\x1b[0m\x07 \u202egnp.exe \x9b2Jb"
MODEL = "anthropic:claude-sonnet-4-5"


@pytest.fixture
def server() -> Iterator[AnthropicServer]:
    with AnthropicServer() as running:
        yield running


@pytest.fixture
def environment(server: AnthropicServer, tmp_path: Path) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.endswith("_API_KEY")}
    return {
        **kept,
        "ANTHROPIC_API_KEY": "a-key-of-the-tests",
        "ANTHROPIC_BASE_URL": server.url,
        "ARCLLM_CONFIG": "",
        "XDG_CONFIG_HOME": str(tmp_path),
    }


@pytest.fixture
def run(environment: dict[str, str], tmp_path: Path, interpreters: Any) -> Callable[..., Any]:
    """Runs it with these arguments."""

    def run(*arguments: str, typed: bytes = b"") -> Any:
        line = ["-m", "arcllm", *arguments]
        return interpreters.run(*line, env=environment, cwd=tmp_path, input=typed)

    return run


def lines_of(printed: str) -> list[dict[str, Any]]:
    assert printed.isascii()
    return [json.loads(line) for line in printed.splitlines()]


def test_the_answer_is_printed(run: Any, server: AnthropicServer) -> None:
    server.answers = ["It is 4.", "It is 4.", "It is 4."]

    for more in ([], ["--stream"]):
        done = run("2 + 2?", "--model", MODEL, *more)
        assert (done.returncode, done.stdout, done.stderr) == (0, "It is 4.\n", "")
    done = run("-", "--model", MODEL, typed=b"2 + 2?\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "It is 4.\n", "")
    assert [b"2 + 2?" in each.raw for each in server.requests] == [True] * 3


def test_json_is_one_line_and_with_stream_a_line_for_each_delta(
    run: Any, server: AnthropicServer
) -> None:
    answer = Answer(Thinking("Hm."), HOSTILE)
    server.answers = [answer, answer]

    whole = run("Hi", "--model", MODEL, "--json")
    streamed = run("Hi", "--model", MODEL, "--json", "--stream")

    (response,) = lines_of(whole.stdout)
    *deltas, last = lines_of(streamed.stdout)
    assert (response["content"], response["thinking"]) == (HOSTILE, "Hm.")
    assert (last["type"], last["content"], last["usage"]) == (
        "LLMResponse", HOSTILE, response["usage"],
    )  # fmt: skip
    texts = [each["text"] for each in deltas if each["type"] == "TextDelta"]
    assert "".join(texts) == HOSTILE
    assert {each["type"] for each in deltas} == {"TextDelta", "ThinkingDelta"}


# Holds: arcllm-24
@pytest.mark.parametrize("more", [[], ["--stream"]])
def test_what_controls_a_terminal_is_not_printed(
    more: list[str], run: Any, server: AnthropicServer
) -> None:
    server.answers = [HOSTILE]

    done = run("Hi", "--model", MODEL, *more)

    printed = done.stdout
    assert done.returncode == 0
    assert [sign for sign in "\x1b\x07\u202e\x9b" if sign in printed] == []
    assert "gnp.exe" in printed


def test_the_model_of_the_file_is_asked_if_none_is_named(
    run: Any, server: AnthropicServer, tmp_path: Path
) -> None:
    (tmp_path / "arcllm").mkdir()
    (tmp_path / "arcllm/config.toml").write_text(f'[defaults]\nmodel = "{MODEL}"\n')

    done = run("Hi")

    assert (done.returncode, done.stderr) == (0, "")
    assert server.requests[0].body["model"] == "claude-sonnet-4-5"


@pytest.mark.parametrize(
    ("arguments", "typed", "said"),
    [
        ([], b"", "error: the following arguments are required: prompt; see"),
        (
            ["a", "b", "c"],
            b"",
            "error: `b` is one word too many: put the prompt in quotes; see `python -m arcllm",
        ),
        (["a", "--modle", MODEL], b"", "error: `--modle` is not an option (did you mean `--model`"),
        (["a", "--modle=b"], b"", "error: `--modle` is not an option (did you mean `--model`?); "),
        (["a", "-x"], b"", "error: `-x` is not an option (known: `--help`, `--json`, `--model`, "),
        (["Hi"], b"", "error: `--model` is missing (must be `provider:model`, such as"),
        (["  ", "--model", MODEL], b"", "error: the prompt is empty"),
        (["-", "--model", MODEL], b"", "error: the prompt is empty"),
        (["-", "--model", MODEL], b"\xff", "error: standard input is not UTF-8: byte 0"),
        (
            ["Hi", "--model", "anthopic"],
            b"",
            "`anthopic` is not a provider (did you mean `anthropic`",
        ),
        (["Hi", "--model", "openai"], b"", "`openai` has no API key; set `OPENAI_API_KEY`"),
        (["Hi", "--model", "open\x1b[31m\nai"], b"", "is not the name of a provider"),
    ],
)
def test_wrong_usage_is_one_line_and_the_code_2(
    arguments: list[str], typed: bytes, said: str, run: Any
) -> None:
    done = run(*arguments, typed=typed)

    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert said in line
    assert line.isprintable()


# Holds: arcllm-24
@pytest.mark.parametrize("more", [[], ["--stream"], ["--json"]])
def test_a_call_that_fails_is_one_line_and_the_code_1(
    more: list[str], run: Any, server: AnthropicServer
) -> None:
    server.faults = [Fault(status=401)]

    done = run("Hi", "--model", MODEL, *more)

    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: `anthropic`: Anthropic API error (401 ")


def test_an_answer_that_was_cut_short_has_the_code_3(run: Any, server: AnthropicServer) -> None:
    server.answers = [Answer("Once upon", stop="max_tokens")]

    done = run("Hi", "--model", MODEL)

    assert (done.returncode, done.stdout) == (3, "Once upon\n")
    assert done.stderr == "the answer was cut short: it ended with `max_tokens`\n"


def test_help_names_every_option_and_exit_code(run: Any) -> None:
    done = run("--help")

    printed = " ".join(done.stdout.split())
    assert (done.returncode, done.stderr) == (0, "")
    for word in ("--model", "--stream", "--json", "standard input", "3 the answer was cut short"):
        assert word in printed


@pytest.mark.parametrize("more", [[], ["--stream"], ["--json", "--stream"]])
def test_a_reader_that_leaves_ends_it_quietly(
    more: list[str], environment: dict[str, str], server: AnthropicServer
) -> None:
    server.answers = ["a long answer " * 100_000]
    line = [sys.executable, "-W", "error", "-m", "arcllm", "Hi", "--model", MODEL, *more]
    with subprocess.Popen(
        line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        code = process.wait(60)

    assert (code, said) == (141, b"")


@pytest.mark.parametrize("more", [[], ["--stream"]])
def test_ctrl_c_ends_it_with_one_line(
    more: list[str], environment: dict[str, str], server: AnthropicServer
) -> None:
    server.answers = ["Hello"]
    server._pause = 60
    line = [sys.executable, "-W", "error", "-m", "arcllm", "Hi", "--model", MODEL, *more]
    with subprocess.Popen(
        line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        while not server.requests:
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        printed, said = process.communicate(timeout=30)

    assert (process.returncode, printed, said) == (130, b"", b"interrupted\n")
