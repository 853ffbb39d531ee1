"""Whole conversations with the strict server of the Responses API, which refuses what OpenAI would."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel
from responses_wire import Hooks

servers = pytest.importorskip("amplifier_testing.servers")

from amplifier_agent import Agent, tool
from amplifier_core.message_models import ChatRequest, Message
from amplifier_providers import azure_openai, openai

KEY = "sk-very-secret"


class City(BaseModel):
    name: str
    people: int | None = None


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@pytest.fixture
def strict() -> Iterator[Any]:
    with servers.ResponsesServer(api_key=KEY, deployments={"prod": "gpt-5.5"}) as running:
        yield running
        assert running.refusals == []


def plans(strict: Any, **config: Any) -> dict[str, dict[str, Any]]:
    """The plan of a provider of each kind."""
    of_openai = {"api_key": KEY, "base_url": strict.url, **config}
    of_azure = {"api_key": KEY, "endpoint": strict.azure_url, **config}
    deployment = {"default_deployment": "prod", "model_family": "gpt-5.5"}
    return {
        "openai": {"providers": [{"module": "provider-openai", "config": of_openai}]},
        "azure": {
            "providers": [{"module": "provider-azure-openai", "config": {**of_azure, **deployment}}]
        },
    }


@pytest.mark.parametrize("kind", ["openai", "azure"])
@pytest.mark.parametrize("config", [{}, {"enable_state": True}, {"background": True}])
async def test_an_agent_thinks_and_calls_tools(
    strict: Any, kind: str, config: dict[str, Any]
) -> None:
    Call, Thinking = servers.Call, servers.Thinking
    strict.answers = [
        servers.Answer(
            Thinking("Add."), Call("add", {"a": 1, "b": 2}), Call("add", {"a": 3, "b": 4})
        ),
        servers.Answer(Thinking("Again."), "Let me see.", Call("add", {"a": 3, "b": 7})),
        servers.Answer(Thinking("Done."), "Ten."),
        "Bye.",
    ]
    plan = plans(strict, poll_interval=0.001, **config)[kind]
    async with Agent(plan=plan, tools=[add], system="Be brief.").session() as session:
        first = await session.run("1 + 2 + 3 + 4?")
        second = await session.run("Thanks")

    assert (first.text, second.text) == ("Ten.", "Bye.")
    bodies = [request.body for request in strict.requests if request.method == "POST"]
    kinds = [item.get("type") for item in bodies[-1]["input"]]
    if config.get("enable_state"):
        assert [body.get("previous_response_id") is not None for body in bodies] == [
            False, True, True, True,
        ]  # fmt: skip
        assert len(bodies[-1]["input"]) == 1
    else:
        assert kinds == [
            None,
            *("reasoning", "function_call", "function_call"),
            *["function_call_output"] * 2,
            *("reasoning", "message", "function_call", "function_call_output"),
            *("reasoning", "message", None),
        ]


@pytest.mark.parametrize("kind", ["openai", "azure"])
async def test_an_agent_answers_with_an_object(strict: Any, kind: str) -> None:
    strict.answers = ['{"name": "Paris", "people": null}']
    result = await Agent(plan=plans(strict)[kind], output=City).run("Where?")
    assert result.output == City(name="Paris")


async def test_a_forgotten_response_is_replaced_by_the_whole_history(hooks: Hooks) -> None:
    with servers.ResponsesServer() as server:
        settings = openai.read_config(
            {"api_key": KEY, "base_url": server.url, "enable_state": True}, {}
        )
        assert settings is not None
        provider = openai.OpenAIProvider(settings, hooks)
        messages = [Message(role="user", content="hi")]
        answer = await provider.complete(ChatRequest(messages=messages))
        server.stored.responses.clear()
        said = Message(role="assistant", content=answer.content, metadata=answer.metadata)
        messages += [said, Message(role="user", content="more")]
        again = await provider.complete(ChatRequest(messages=messages))
        await provider.close()
        assert [refusal.code for refusal in server.refusals] == ["previous_response_not_found"]
    assert again.finish_reason == "end_turn"
    assert "provider:response_chain_invalidated" in hooks.names()


async def test_an_answer_that_is_cut_goes_on(strict: Any, hooks: Hooks) -> None:
    strict.answers = [
        servers.Answer(servers.Thinking("Hm."), "Once upon ", stop="max_output_tokens"),
        "a time.",
    ]
    settings = openai.read_config({"api_key": KEY, "base_url": strict.url}, {})
    assert settings is not None
    provider = openai.OpenAIProvider(settings, hooks)
    answer = await provider.complete(ChatRequest(messages=[Message(role="user", content="Tell.")]))
    await provider.close()
    assert getattr(answer, "text", None) == "Once upon a time."


async def test_the_lists_of_models_are_read(strict: Any) -> None:
    of_openai = openai.read_config({"api_key": KEY, "base_url": strict.url}, {})
    of_azure = azure_openai.read_config({"api_key": KEY, "endpoint": strict.azure_url}, {})
    assert of_openai is not None
    assert not isinstance(of_azure, str)
    for provider in (
        openai.OpenAIProvider(of_openai),
        azure_openai.AzureOpenAIProvider(of_azure),
    ):
        names = {model.id for model in await provider.list_models()}
        assert {"gpt-5.5", "gpt-4.1", "o3"} <= names
        assert all(model.context_window for model in await provider.list_models())
        await provider.close()
