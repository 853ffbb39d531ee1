"""What is said of a `model` whose provider does not exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_agent import Agent
from amplifier_core.llm_errors import ConfigurationError
from amplifier_modules import MODULES
from amplifier_providers.openai_chat.presets import PRESETS


def refusal(model: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        Agent(model)
    return str(caught.value)


@pytest.mark.parametrize(
    ("model", "meant"),
    [
        ("claude-sonnet-4-5", "anthropic:claude-sonnet-4-5"),
        ("claude-3-7-sonnet-20250219", "anthropic:claude-3-7-sonnet-20250219"),
        ("gpt-5.5", "openai:gpt-5.5"),
        ("gpt-4o-mini", "openai:gpt-4o-mini"),
        ("o3", "openai:o3"),
        ("o4-mini-deep-research", "openai:o4-mini-deep-research"),
        ("ft:gpt-4o-mini:acme::id1", "openai:ft:gpt-4o-mini:acme::id1"),
        ("mistral-large-latest", "mistral:mistral-large-latest"),
        ("deepseek-chat", "deepseek:deepseek-chat"),
        ("grok-4", "xai:grok-4"),
        ("meta-llama/Llama-3.3-70B-Instruct", "openrouter:meta-llama/Llama-3.3-70B-Instruct"),
        ("llama3:8b", "ollama:llama3:8b"),
        ("llama3.1:70b-instruct-q4_0", "ollama:llama3.1:70b-instruct-q4_0"),
        ("deepseek-r1:671b", "ollama:deepseek-r1:671b"),
        ("mixtral:8x7b", "ollama:mixtral:8x7b"),
        ("gpt-oss:20b", "ollama:gpt-oss:20b"),
        ("gemma3:270m", "ollama:gemma3:270m"),
        ("gemma3n:e4b", "ollama:gemma3n:e4b"),
        ("phi4:latest", "ollama:phi4:latest"),
    ],
)
def test_the_name_of_a_model_alone_is_answered_with_its_provider(model: str, meant: str) -> None:
    assert refusal(model) == (
        f"`model` is `{model}`, but there is no provider `{model.partition(':')[0]}`;"
        f" did you mean the model `{meant}`?"
    )


@pytest.mark.parametrize(
    ("model", "meant"),
    [
        ("opnai:gpt-5.5", "openai:gpt-5.5"),
        ("Anthropic", "anthropic"),
        ("antropic:claude-opus-4-5", "anthropic:claude-opus-4-5"),
        ("azure:gpt-5.5", "openai:gpt-5.5"),
        ("claude:claude-opus-4-5", "anthropic:claude-opus-4-5"),
        ("grok:x", "groq:x"),
    ],
)
def test_a_misspelt_provider_is_answered_with_the_one_that_is_near(model: str, meant: str) -> None:
    assert refusal(model).endswith(f"; did you mean `{meant}`?")


@pytest.mark.parametrize("model", ["gemini:x", "gemini-2.5-pro", "nope:x"])
def test_an_unknown_provider_is_answered_with_all_that_there_are(model: str) -> None:
    text = refusal(model)

    assert [name for name in PRESETS if f"`{name}`" not in text] == []
    assert "`anthropic`, `azure-openai`" in text
    assert "any other service with Chat Completions is `provider-openai-chat`" in text
    assert "did you mean" not in text


def test_every_provider_of_ours_and_those_of_others_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in MODULES:
        if module.startswith("provider-"):
            Agent(f"{module.removeprefix('provider-')}:llama3:8b")
    (tmp_path / "amplifier_module_provider_gemini").mkdir()
    (tmp_path / "amplifier_module_provider_gemini" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert Agent("gemini:x").plan["providers"] == [
        {"module": "provider-gemini", "config": {"default_model": "x"}}
    ]
