"""How a provider is opened: its name, its settings, its key and its address."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from called_services import KEY, SERVICES

from amplifier_providers.openai_chat.presets import PRESETS
from amplifier_testing.servers import Answer, AnthropicServer, ChatServer, ResponsesServer
from arcllm import ArcLLMConfigError, Message
from arcllm.providers.names import PROVIDERS
from arcllm.providers.open import ProviderStep, open_provider
from arcllm.step import Call

QUESTION = Call([Message(role="user", content="hi")])
VARIABLES = sorted(
    {variable for each in PROVIDERS.values() for variable in (each.key_variable, each.address_variable)}
    - {""}
)  # fmt: skip


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for variable in (*VARIABLES, "AZURE_OPENAI_KEY", "AZURE_OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    return monkeypatch


def refused(name: str, model: str | None = None, **settings: Any) -> str:
    with pytest.raises(ArcLLMConfigError) as caught:
        open_provider(name, model, settings)
    return caught.value.message


def test_these_providers_exist() -> None:
    own = {"anthropic", "openai", "azure_openai", "ollama", "openai_chat"}
    presets = {name.replace("-", "_") for name in PRESETS}
    assert set(PROVIDERS) == own | presets
    named = {
        "anthropic", "openai", "deepseek", "fireworks", "groq", "huggingface", "huggingface_tgi",
        "mistral", "ollama", "together", "vllm", "azure_openai", "xai", "openrouter", "llama_cpp",
        "lm_studio",
    }  # fmt: skip
    assert named <= set(PROVIDERS)
    assert all(name == each.name for name, each in PROVIDERS.items())


@pytest.mark.parametrize("name", PROVIDERS)
def test_each_provider_can_be_opened(name: str) -> None:
    settings: dict[str, Any] = {"api_key": KEY}
    if name == "azure_openai":
        settings["endpoint"] = "https://resource.openai.azure.com"
    elif not PROVIDERS[name].base_url:
        settings["base_url"] = "https://models.example.org/v1"
    step = open_provider(name, "a-model", settings)
    assert (step.name, step.model_name) == (name, "a-model")
    assert isinstance(step, ProviderStep)
    assert KEY not in repr(step)
    assert KEY not in repr(vars(step))


@pytest.mark.parametrize("name", [name for name in PROVIDERS if PROVIDERS[name].needs_key])
def test_a_missing_key_is_named(name: str, environment: pytest.MonkeyPatch) -> None:
    variable = PROVIDERS[name].key_variable
    said = f"`{name}` has no API key; set `{variable}` or the setting `api_key`"
    assert refused(name, "a-model") == said
    assert refused(name, "a-model", api_key="  ") == said
    environment.setenv(variable, KEY)
    assert open_provider(name, "a-model", {}).name == name


def test_an_unknown_provider_is_refused_and_the_known_ones_are_listed() -> None:
    known = ", ".join(f"`{name}`" for name in sorted(PROVIDERS))
    assert refused("opnai") == "unknown provider `opnai` (did you mean `openai`?)"
    assert refused("") == f"unknown provider `` (known: {known})"


def test_an_unknown_setting_is_refused_with_what_is_meant_or_all_that_are_known() -> None:
    said = refused("anthropic", api_key=KEY, tiemout=3)
    assert said == "unknown setting `tiemout` of `anthropic` (did you mean `timeout`?)"
    said = refused("anthropic", api_key=KEY, xyzzy=3)
    assert said.startswith("unknown setting `xyzzy` of `anthropic` (known: `api_key`, `base_url`,")


@pytest.mark.parametrize(
    ("key", "layer"),
    [
        ("max_retries", "retry"),
        ("breaker_failures", "retry"),
        ("rate", "rate_limit"),
        ("max_concurrent_requests", "rate_limit"),
        ("fallback_model", "fallback"),
    ],
)
def test_a_setting_of_a_layer_is_refused_and_the_layer_named(key: str, layer: str) -> None:
    assert refused("openai", api_key=KEY, **{key: 1}) == (
        f"setting `{key}` of `openai` is the matter of the layer `{layer}`"
        f" (set `{layer}` of `load_model`)"
    )


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"timeout": "x"}, "settings of `anthropic`: `timeout` is 'x' (must be a number, at least 0.001)"),
        ({"base_url": "ftp://e.org"}, "settings of `anthropic`: `base_url` is of type `str` (must be an address like"),
    ],
)  # fmt: skip
def test_a_value_that_a_setting_cannot_have_is_refused(settings: Any, said: str) -> None:
    assert refused("anthropic", api_key=KEY, **settings).startswith(said)


def test_a_model_must_be_named_where_none_is_usual() -> None:
    assert refused("ollama") == "no model of `ollama` is named (such as `ollama:NAME`)"
    assert open_provider("ollama", None, {"default_model": "qwen3:8b"}).model_name == "qwen3:8b"
    assert open_provider("anthropic", None, {"api_key": KEY}).model_name.startswith("claude-")


def test_a_model_that_nobody_knows_is_passed_on() -> None:
    assert open_provider("openai", "brand-new", {"api_key": KEY}).model_name == "brand-new"


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8000/v1", "http://127.0.0.1:8000", "http://[::1]:8000",
        "http://10.0.0.7:8000", "http://192.168.1.5/v1", "http://vllm:8000/v1",
        "http://gpu.local/v1", "https://models.example.org/v1",
    ],
)  # fmt: skip
def test_a_local_address_may_be_without_tls(url: str) -> None:
    assert open_provider("openai_chat", "m", {"base_url": url}).name == "openai_chat"


# Holds: arcllm-14
@pytest.mark.parametrize(
    "url", ["http://models.example.org/v1", "http://8.8.8.8/v1", "http://localhost.example.org"]
)
def test_any_other_address_must_have_tls(url: str) -> None:
    assert refused("openai_chat", "m", base_url=url.replace("://", "://user:password@")) == (
        f"the address of `openai_chat` is `{url}` (must be `https://…`, unless the server is local)"
    )


@pytest.mark.parametrize(
    ("name", "variable", "server"),
    [
        ("anthropic", "ANTHROPIC_BASE_URL", AnthropicServer),
        ("openai", "OPENAI_BASE_URL", ResponsesServer),
        ("openai_chat", "OPENAI_BASE_URL", ChatServer),
    ],
)
async def test_the_address_and_the_key_may_come_from_the_environment(
    name: str, variable: str, server: Any, environment: pytest.MonkeyPatch
) -> None:
    with server(["from there"], api_key=KEY) as running:
        environment.setenv(variable, running.url)
        environment.setenv(PROVIDERS[name].key_variable, KEY)
        step = open_provider(name, "gpt-4.1" if name == "openai_chat" else None, {})
        response = await step.complete(QUESTION)
        await step.close()
    assert response.content == "from there"


async def test_an_answer_is_not_gone_on_with() -> None:
    async with SERVICES["openai"].asking([Answer("Once upon", stop="max_output_tokens")]) as (
        step,
        server,
    ):
        response = await step.complete(QUESTION)
    assert (response.content, response.stop_reason) == ("Once upon", "max_tokens")
    assert len(server.requests) == 1


def test_the_example_of_the_environment_has_every_variable_and_no_key() -> None:
    lines = (Path(__file__).parents[2] / ".env.example").read_text().splitlines()
    given = dict(
        line.lstrip("#").split("=", 1) for line in lines if "=" in line and " " not in line
    )
    assert set(VARIABLES) <= set(given)
    assert all(not value for name, value in given.items() if name.endswith(("_KEY", "_TOKEN")))


def test_to_import_the_types_imports_no_provider_and_no_http() -> None:
    program = (
        "import sys\nfrom arcllm import Message, load_model\n"
        "late = ('httpx2', 'anyio', 'amplifier_stream', 'amplifier_guard', 'arcllm.providers',"
        " 'amplifier_providers.wire', 'amplifier_providers.services')\n"
        "print([name for name in late if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
