"""Services by their names: in a config, as modules of their own, and as the model of an agent."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent
from amplifier_core import AmplifierSession, ModuleCoordinator
from amplifier_core.llm_errors import ConfigurationError, RateLimitError
from amplifier_core.loader import ModuleLoader
from amplifier_core.message_models import ChatRequest, Message
from amplifier_core.validation.behavioral import ProviderBehaviorTests
from amplifier_modules import MODULES
from amplifier_providers.openai_chat import (
    PRESETS,
    ChatProvider,
    ChatSettings,
    Preset,
    mount,
)
from amplifier_providers.wire.client import ServiceClient
from amplifier_providers.wire.service import Service

REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])
VARIABLES = {
    "openrouter": "OPENROUTER_API_KEY",
    "groq": "GROQ_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "together": "TOGETHER_API_KEY",
    "fireworks": "FIREWORKS_API_KEY",
    "xai": "XAI_API_KEY",
    "huggingface": "HF_TOKEN",
    "vllm": "",
    "lm-studio": "",
    "llama-cpp": "",
    "huggingface-tgi": "",
}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL", *VARIABLES.values()):
        if variable:
            monkeypatch.delenv(variable, raising=False)
    return monkeypatch


def test_each_service_has_an_address_and_those_of_others_a_variable_for_their_key() -> None:
    assert {name: preset.key_variable for name, preset in PRESETS.items()} == VARIABLES
    for name, preset in PRESETS.items():
        assert preset.name == name
        assert preset.base_url.startswith("https://" if preset.key_variable else "http://localhost")
        assert f"provider-{name}" in MODULES


@pytest.mark.parametrize("name", PRESETS)
async def test_each_service_is_a_module_that_mounts_under_its_name(
    name: str, server: Any, wire: Any, environment: pytest.MonkeyPatch
) -> None:
    mount_it = await ModuleLoader().load(f"provider-{name}", {})
    coordinator: Any = ModuleCoordinator()
    if VARIABLES[name]:
        assert await mount_it(coordinator) is None
        environment.setenv(VARIABLES[name], "the-key")
    close = await mount_it(coordinator)
    provider = coordinator.get("providers")[name]
    info = provider.get_info()
    assert (provider.name, info.id, info.display_name) == (name, name, PRESETS[name].title)
    assert repr(provider) == f"ChatProvider(base_url='{PRESETS[name].base_url}')"
    assert info.credential_env_vars == ([VARIABLES[name]] if VARIABLES[name] else [])
    await coordinator.cleanup()
    if close is not None:
        await close()

    config = {"base_url": server.url, "default_model": "m"}
    mount_it = await ModuleLoader().load(f"provider-{name}", config)
    close = await mount_it(coordinator)
    server.answers = [wire.Answer(wire.said("hello"))]
    response = await coordinator.get("providers")[name].complete(REQUEST)
    assert close is not None
    await close()
    assert (response.text, response.metadata["provider"]) == ("hello", name)
    expected = "Bearer the-key" if VARIABLES[name] else None
    assert server.asked[0].headers.get("authorization") == expected


async def test_a_service_can_be_chosen_in_the_config(server: Any, wire: Any) -> None:
    coordinator: Any = ModuleCoordinator()
    config = {"preset": "groq", "api_key": "k", "base_url": server.url, "max_retries": 0}
    close = await mount(coordinator, {**config, "default_model": "m"})
    # A module mounts under its own name, so that the loader can give an instance another.
    provider: ChatProvider = coordinator.get("providers")["openai-chat"]
    server.answers = [wire.Answer(b'{"error": {"message": "slow"}}', 429, "application/json")]
    with pytest.raises(RateLimitError, match="Groq API error") as caught:
        await provider.complete(REQUEST)
    assert close is not None
    await close()
    assert (provider.name, caught.value.provider) == ("groq", "groq")


async def test_a_key_that_is_refused_is_named_by_its_variable(
    server: Any, wire: Any, provider_with: Any
) -> None:
    from amplifier_core.llm_errors import AuthenticationError

    for preset, place in (("xai", "XAI_API_KEY"), ("vllm", "api_key"), (None, "OPENAI_API_KEY")):
        server.answers = [wire.Answer(b"{}", 401, "application/json")]
        with pytest.raises(AuthenticationError) as caught:
            await provider_with(preset=preset).complete(REQUEST)
        assert caught.value.hint == f"the key was refused; check `{place}`"


async def test_the_module_of_a_service_takes_no_other_preset() -> None:
    mount_it = await ModuleLoader().load("provider-vllm", {"preset": "groq"})
    with pytest.raises(ConfigurationError, match=r"provider-vllm: `preset` is 'groq'"):
        await mount_it(ModuleCoordinator())


async def test_two_servers_in_one_session(server: Any, wire: Any) -> None:
    config = {"base_url": server.url, "default_model": "m"}
    plan = {
        "session": {
            "orchestrator": {"module": "loop-basic"},
            "context": {"module": "context-simple"},
            "strict": True,
        },
        "providers": [
            {"module": "provider-openai-chat", "instance_id": "a", "config": config},
            {
                "module": "provider-openai-chat",
                "instance_id": "b",
                "config": {**config, "preset": "groq", "api_key": "k", "priority": 1},
            },
        ],
    }
    server.answers = [wire.Answer(wire.said("hello"))]
    async with AmplifierSession(plan) as session:
        assert list(session.coordinator.get("providers")) == ["a", "b"]
        assert await session.execute("hi") == "hello"
    assert server.asked[0].headers["authorization"] == "Bearer k"


async def test_an_agent_names_a_service_and_its_model(
    server: Any, wire: Any, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv("GROQ_API_KEY", "k")
    agent = Agent("groq:llama-3.3-70b")
    assert agent.plan["providers"] == [
        {"module": "provider-groq", "config": {"default_model": "llama-3.3-70b"}}
    ]
    config = {"base_url": server.url, "default_model": "llama-3.3-70b"}
    plan = {"providers": [{"module": "provider-groq", "config": config}]}
    server.answers = [wire.Answer(wire.said("hello"))]
    result = await Agent(plan=plan).run("hi")
    assert (result.text, server.bodies[0]["model"]) == ("hello", "llama-3.3-70b")


async def test_an_agent_holds_a_model_to_a_schema_where_the_service_can(
    server: Any, wire: Any
) -> None:
    async def asked(preset: str | None, answer: bytes) -> Any:
        config = {"base_url": server.url, "default_model": "m", "api_key": "k", "preset": preset}
        plan = {"providers": [{"module": "provider-openai-chat", "config": config}]}
        server.answers = [wire.Answer(answer)]
        result = await Agent(plan=plan, output=dict[str, int]).run("hi")
        assert result.output == {"a": 1}
        return server.bodies[-1]

    body = await asked("vllm", wire.said('{"a": 1}'))
    assert (body["response_format"]["type"], "tools" in body) == ("json_schema", False)
    call = wire.call(0, "1", "final_answer", '{"a": 1}')
    called = wire.sse(wire.chunk(tool_calls=[call]), wire.chunk("tool_calls"))
    for preset in ("groq", None):
        body = await asked(preset, called)
        assert "response_format" not in body
        assert [each["function"]["name"] for each in body["tools"]] == ["final_answer"]


async def test_another_service_can_have_its_own_address_headers_and_path(
    server: Any, wire: Any
) -> None:
    tokens = iter(["first", "second"])

    async def headers() -> dict[str, str]:
        return {"authorization": f"Bearer {next(tokens)}"}

    service = Service("mine", "Mine", "chat", "MINE_KEY", "MINE_URL")
    preset = Preset("mine", "Mine", limit_key="max_completion_tokens", system_role="developer")
    settings = ChatSettings(default_model="deployment", max_tokens=5)
    provider = ChatProvider(
        service,
        preset,
        settings,
        ServiceClient(service, server.url, headers),
        path="/chat/completions?api-version=1",
        names_model=False,
    )
    system = Message(role="system", content="Be brief.")
    for token in ("first", "second"):
        server.answers = [wire.Answer(wire.said("hello"))]
        response = await provider.complete(ChatRequest(messages=[system, *REQUEST.messages]))
        asked = server.asked[-1]
        assert asked.path == "/v1/chat/completions?api-version=1"
        assert asked.headers["authorization"] == f"Bearer {token}"
        assert "model" not in asked.body
        assert asked.body["messages"][0]["role"] == "developer"
        assert asked.body["max_completion_tokens"] == 5
        assert response.metadata is not None
        assert response.metadata["requested_model"] == "deployment"
    await provider.close()


@pytest.mark.parametrize(
    "name", [name for name in vars(ProviderBehaviorTests) if name.startswith("test_")]
)
async def test_it_behaves_like_every_provider(
    server: Any, wire: Any, provider_with: Any, name: str
) -> None:
    body = b'{"object": "list", "data": [{"id": "m"}]}'
    server.answers = [wire.Answer(body, content_type="application/json")]
    try:
        await getattr(ProviderBehaviorTests(), name)(provider_with())
    except pytest.skip.Exception as skipped:
        pytest.fail(f"{name} was skipped: {skipped}")


def test_the_command_asks_the_model_of_a_service(server: Any, wire: Any, tmp_path: Path) -> None:
    server.answers = [wire.Answer(wire.said("hello"))]
    config = json.dumps({"base_url": server.url})
    options = ["--module", f"provider-vllm={config}", "--model", "vllm:mine"]
    done = subprocess.run(
        [sys.executable, "-m", "amplifier_core", "run", *options, "hi"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "hello\n"), done.stderr
    assert server.bodies[0]["model"] == "mine"


async def test_what_a_service_cannot_do_is_not_claimed(provider_with: Any) -> None:
    def claims(**config: Any) -> set[str]:
        return set(provider_with(**config).get_info().capabilities)

    assert claims() == {"streaming", "tools", "thinking", "vision"}
    assert claims(structured_output="json_schema") == {*claims(), "structured_output"}
    assert claims(preset="xai") == {*claims(), "structured_output"}
    assert claims(preset="deepseek") == {"streaming", "tools", "thinking"}
    assert claims(preset="mistral", vision=False) == {"streaming", "tools", "structured_output"}
