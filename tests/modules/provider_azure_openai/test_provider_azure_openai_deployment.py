"""The address of one deployment, which speaks Chat Completions."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("amplifier_providers.openai_chat")
servers = pytest.importorskip("amplifier_testing.servers")

from pydantic import BaseModel

from amplifier_agent import Agent, tool
from amplifier_core import ModuleCoordinator
from amplifier_core.message_models import ChatRequest, Message
from amplifier_providers import azure_openai

KEY = "azure-very-secret"
VERSION = "2024-10-21"
REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])


class City(BaseModel):
    name: str


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@pytest.fixture
def strict() -> Iterator[Any]:
    deployments = {"prod": "gpt-5.5", "other": "gpt-4.1"}
    with servers.ChatServer(api_key=KEY, deployments=deployments) as running:
        yield running
        assert running.refusals == []


def config(strict: Any, **more: Any) -> dict[str, Any]:
    endpoint = f"{strict.azure_url}/openai/deployments/prod/chat/completions?api-version={VERSION}"
    return {"api_key": KEY, "endpoint": endpoint, "model_family": "gpt-5.5", **more}


async def test_a_call_names_the_deployment_in_its_path_alone(strict: Any) -> None:
    coordinator = ModuleCoordinator()
    close = await azure_openai.mount(coordinator, config(strict))
    assert close is not None
    provider = coordinator.get("providers")["azure-openai"]
    strict.answers = ["Hello", "Bye"]

    answer = await provider.complete(REQUEST, max_tokens=99, reasoning_effort="low")
    await provider.complete(REQUEST, model="other")

    first, second = strict.requests
    assert (first.path, dict(first.query)) == (
        "/openai/deployments/prod/chat/completions",
        {"api-version": VERSION},
    )
    assert second.path == "/openai/deployments/other/chat/completions"
    assert first.headers["api-key"] == KEY
    assert "model" not in first.body
    assert (first.body["max_completion_tokens"], first.body["reasoning_effort"]) == (99, "low")
    assert (answer.metadata["provider"], answer.metadata["requested_model"]) == (
        "azure-openai",
        "prod",
    )
    assert [model.id for model in await provider.list_models()] == ["prod"]
    info = provider.get_info()
    assert (info.id, info.defaults["model"]) == ("azure-openai", "prod")
    assert "structured_output" in info.capabilities
    await close()


async def test_an_agent_calls_tools_and_answers_with_an_object(strict: Any) -> None:
    plan = {"providers": [{"module": "provider-azure-openai", "config": config(strict)}]}
    strict.answers = [servers.Answer(servers.Call("add", {"a": 1, "b": 2})), '{"name": "Paris"}']
    result = await Agent(plan=plan, tools=[add], output=City, system="Be brief.").run("Where?")
    assert result.output == City(name="Paris")
    assert strict.requests[0].body["response_format"]["type"] == "json_schema"


async def test_settings_of_the_other_api_are_named(
    strict: Any, caplog: pytest.LogCaptureFixture
) -> None:
    given = config(strict, enable_state=True, truncation="auto", max_tokens=50)
    close = await azure_openai.mount(ModuleCoordinator(), given)
    assert close is not None
    await close()
    warnings = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert [text.split("`")[1] for text in warnings] == ["enable_state", "truncation"]
    assert "speaks Chat Completions" in warnings[0]


async def test_tokens_of_entra_id_work_here_too(strict: Any) -> None:
    from types import SimpleNamespace

    from amplifier_providers.azure_openai.deployment import DeploymentProvider

    class Fake:
        def get_token(self, *scopes: str) -> Any:
            return SimpleNamespace(token=KEY, expires_on=10**12)

    settings = azure_openai.read_config(
        {**config(strict), "api_key": None, "use_default_credential": True}, {}
    )
    assert not isinstance(settings, str)
    provider = DeploymentProvider(settings, credential=Fake())
    await provider.complete(REQUEST)
    await provider.close()
    assert strict.requests[0].headers["authorization"] == f"Bearer {KEY}"
