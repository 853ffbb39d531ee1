"""`--model` names a provider and its model; without it, a key says who answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_app.commands.mount_plan import mount_plan
from amplifier_app.commands.named_modules import NamedModules, named_modules
from amplifier_app.commands.provider_choice import PROVIDERS, chosen_model
from amplifier_app.failure import Failure
from amplifier_core import ModuleCoordinator
from amplifier_core.known_modules import list_own_modules
from amplifier_providers.anthropic.models import DEFAULT_MODEL as CLAUDE
from amplifier_providers.requests.openai_models import DEFAULT_MODEL as GPT

ANTHROPIC = {"ANTHROPIC_API_KEY": "sk-ant-a-key"}
OPENAI = {"OPENAI_API_KEY": "sk-a-key"}
LLAMA = "llama-3.3-70b"
LISTS = "amplifier-core provider models"
OTHERS = "see `amplifier-core provider list`; another service is asked by `openai-chat`"
NOT_MODELS = {"provider-mock", "provider-scripted"}


def chosen(
    text: str | None, environment: dict[str, str] | None = None, named: NamedModules | None = None
) -> tuple[str, str | None]:
    choice = chosen_model(text, named, environment or {})
    return choice.provider.name, choice.model


@pytest.mark.parametrize(
    ("text", "provider", "model"),
    [
        (None, "anthropic", None),
        ("claude-x", "anthropic", "claude-x"),
        ("qwen3:8b", "anthropic", "qwen3:8b"),
        ("ft:gpt-4o-mini:acme::id", "anthropic", "ft:gpt-4o-mini:acme::id"),
        ("anthropic.claude-v2:0", "anthropic", "anthropic.claude-v2:0"),
        ("a/b:free", "anthropic", "a/b:free"),
        ("anthropic", "anthropic", CLAUDE),
        ("anthropic:claude-x", "anthropic", "claude-x"),
        ("openai", "openai", GPT),
        ("openai:gpt-4.1", "openai", "gpt-4.1"),
        ("openai-chat:m", "openai-chat", "m"),
        ("ollama:qwen3:8b", "ollama", "qwen3:8b"),
        (f"groq:{LLAMA}", "groq", LLAMA),
        ("openrouter:a/b:free", "openrouter", "a/b:free"),
        ("lm-studio:mine", "lm-studio", "mine"),
        ("demo", "demo", None),
    ],
)
def test_a_model_may_name_its_provider(text: str | None, provider: str, model: str | None) -> None:
    assert chosen(text) == (provider, model)


@pytest.mark.parametrize(
    ("environment", "provider"),
    [
        ({}, "anthropic"),
        (ANTHROPIC, "anthropic"),
        (OPENAI, "openai"),
        ({**OPENAI, **ANTHROPIC}, "anthropic"),
        ({**OPENAI, "ANTHROPIC_API_KEY": " "}, "openai"),
        ({"GROQ_API_KEY": "gsk_a-key"}, "anthropic"),
    ],
)
def test_without_a_name_the_first_provider_with_a_key_answers(
    environment: dict[str, str], provider: str
) -> None:
    assert chosen(None, environment) == (provider, None)
    assert chosen("some-model", environment) == (provider, "some-model")


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("opnai:gpt-5.5", "there is no provider `opnai`", "did you mean `--model openai:gpt-5.5`?"),
        ("OpenAI", "there is no provider `OpenAI`", "did you mean `--model openai`?"),
        ("antropic", "there is no provider `antropic`", "did you mean `--model anthropic`?"),
        ("grok:x", "there is no provider `grok`", "did you mean `--model groq:x`?"),
        ("nope:x", "there is no provider `nope`", OTHERS),
        ("gemini:gemini-2.5-pro", "there is no provider `gemini`", OTHERS),
        ("openai:", "`openai:` names no model", "did you mean `--model openai`?"),
        (
            "groq",
            "`groq` has no usual model",
            f"name one: `--model groq:MODEL`; `{LISTS} groq` lists them",
        ),
        (
            "openai-chat",
            "`openai-chat` has no usual model",
            f"name one: `--model openai-chat:MODEL`; `{LISTS} openai-chat` lists them",
        ),
    ],
)
def test_a_provider_that_cannot_be_meant_is_said(text: str, message: str, hint: str) -> None:
    with pytest.raises(Failure) as caught:
        chosen(text)
    assert (str(caught.value), caught.value.hint, caught.value.exit_code) == (message, hint, 2)


def test_the_model_of_a_provider_that_the_user_mounts_is_taken_as_it_is() -> None:
    mine = named_modules(["provider-scripted"], None)
    assert chosen("openai:x", OPENAI, mine) == ("openai", "openai:x")
    assert chosen("opnai:x", OPENAI, mine) == ("openai", "opnai:x")
    ours = named_modules(["provider-groq"], None)
    assert chosen("groq:x", {}, ours) == ("groq", "x")


def test_each_provider_of_ours_can_be_chosen_and_has_its_own_key() -> None:
    ids = {each for each in list_own_modules() if each.startswith("provider-")} - NOT_MODELS
    known = {provider.module_id for provider in PROVIDERS.values()}
    assert ids <= known
    assert known - ids <= {"provider-azure-openai"}


@pytest.mark.parametrize("name", ["anthropic", "openai", "groq", "mistral"])
async def test_the_variable_of_a_key_is_the_one_that_the_provider_reads(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib import import_module

    provider = PROVIDERS[name]
    coordinator = ModuleCoordinator()
    monkeypatch.setenv(provider.key_variable, "sk-a-key")
    close = await import_module(list_own_modules()[provider.module_id]).mount(coordinator, {})
    assert close is not None
    mounted: Any = coordinator.get("providers")[name]
    assert mounted.get_info().credential_env_vars == [provider.key_variable]
    await close()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def test_the_settings_of_the_command_are_those_of_any_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROVIDER_MAX_RETRIES", "3")
    named = named_modules(['provider-groq={"base_url": "http://localhost"}'], None)
    plan = mount_plan(tmp_path, {}, LLAMA, named=named, provider_module="provider-groq")
    (provider,) = plan["providers"]
    assert provider["module"] == "provider-groq"
    assert provider["config"] == {
        "max_retries": 3, "content_timeout": 600.0, "max_answer_bytes": 64 * 1024**2,
        "default_model": LLAMA, "base_url": "http://localhost",
    }  # fmt: skip


def test_a_key_that_is_missing_is_named_with_its_variable(command: Any) -> None:
    for text, variable in (("groq:llama", "GROQ_API_KEY"), ("openai:gpt-5.5", "OPENAI_API_KEY")):
        done = command("--model", text, "Hi")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            f"error: `{variable}` is not set, which `--model {text}` needs; set it, keep the key in the"
            f" system keyring with `amplifier-core provider key set {text.partition(':')[0]}`, or leave"
            " `--model` out to ask the demo model\n"
        )


def test_what_a_server_without_a_preset_needs_is_said(command: Any) -> None:
    done = command("--model", "openai-chat:m", "Hi")
    assert done.returncode == 1
    assert "no address; set `OPENAI_BASE_URL` or the config key `base_url`" in done.stderr


def test_a_key_that_the_demo_model_does_not_use_is_said(command: Any) -> None:
    command.environment["GROQ_API_KEY"] = "gsk_a-key"
    done = command("Hi")
    assert done.returncode == 0
    assert done.stderr == (
        "neither ANTHROPIC_API_KEY nor OPENAI_API_KEY is set: using the demo model, a program, not a"
        " language model;"
        " GROQ_API_KEY is set: `--model groq:MODEL` uses it\n"
    )
