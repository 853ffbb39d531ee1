"""How `provider-openai` is set up: config, environment, address, headers, models."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
from responses_wire import Answer, Server, message

from amplifier_core import ModuleCoordinator
from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_providers import openai
from amplifier_providers.openai import OpenAIProvider, read_config

KEY = "sk-very-secret"
REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])

Make = Callable[..., OpenAIProvider]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("API_KEY", "BASE_URL", "ORG_ID", "PROJECT_ID"):
        monkeypatch.delenv(f"OPENAI_{name}", raising=False)
    return monkeypatch


async def test_the_request_goes_to_the_right_place_with_the_right_headers(
    server: Server, make: Make
) -> None:
    for base in ("/v1", "/v1/", "/proxy/v1"):
        server.answers = [Answer.of(message("Hello"))]
        provider = make(base_url=server.url + base, organization="org-1", project="proj-1")
        await provider.complete(REQUEST)

        asked = server.asked.pop()
        assert (asked.method, asked.path) == ("POST", f"{base.rstrip('/')}/responses")
        wanted = {
            "authorization": f"Bearer {KEY}",
            "content-type": "application/json",
            "accept": "text/event-stream",
            "openai-organization": "org-1",
            "openai-project": "proj-1",
        }
        assert {name: asked.headers[name] for name in wanted} == wanted


async def test_without_a_key_nothing_is_mounted_and_a_warning_says_so(
    environment: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    environment.setenv("OPENAI_API_KEY", " ")
    coordinator = ModuleCoordinator()

    assert await openai.mount(coordinator) is None

    assert not coordinator.get("providers")
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "`OPENAI_API_KEY`" in record.message


async def test_the_environment_fills_what_the_config_leaves_open(
    server: Server, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv("OPENAI_API_KEY", KEY)
    environment.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    environment.setenv("OPENAI_ORG_ID", "org-2")
    environment.setenv("OPENAI_PROJECT_ID", "proj-2")
    coordinator = ModuleCoordinator()

    close = await openai.mount(coordinator, {"priority": 3, "default_model": None})

    assert close is not None
    provider: OpenAIProvider = coordinator.get("providers")["openai"]
    assert (provider.name, provider.priority) == ("openai", 3)
    assert provider.config.default_model == "gpt-5.5"
    server.answers = [Answer.of(message("Hello"))]
    assert (await provider.complete(REQUEST)).finish_reason == "end_turn"
    headers = server.asked[0].headers
    assert (headers["openai-organization"], headers["openai-project"]) == ("org-2", "proj-2")
    assert (provider.get_info().id, provider.get_info().credential_env_vars) == (
        "openai",
        ["OPENAI_API_KEY"],
    )
    await close()
    await close()


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"base_url": "api.example.org"}, "`base_url` is of type `str` (must be an address like"),
        ({"max_tokens": 0}, "`max_tokens` is 0 (must be a whole number, at least 1)"),
        ({"reasoning_summary": "long"}, "`reasoning_summary` is 'long'"),
        ({"truncation": "middle"}, "`truncation` is 'middle'"),
        ({"poll_interval": 0}, "`poll_interval` is 0"),
        ({"enable_state": "yes"}, "`enable_state` is 'yes' (must be true or false)"),
        ({"organization": "two words"}, "`organization` is 'two words'"),
    ],
)
def test_a_setting_that_cannot_work_is_named(config: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_config({"api_key": KEY, **config}, {})
    assert named in str(caught.value)
    assert KEY not in str(caught.value)


def test_an_unknown_setting_is_a_warning_with_a_suggestion(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert read_config({"api_key": KEY, "max_token": 5}, {}) is not None
    (record,) = caplog.records
    assert "unknown config key `max_token` (did you mean `max_tokens`?)" in record.message


async def test_models_that_do_not_speak_this_api_are_left_out_unless_all_are_asked_for(
    server: Server, make: Make
) -> None:
    names = ["gpt-5.5", "text-embedding-3-large", "gpt-4.1-mini", "whisper-1", "o3"]
    listed = {"object": "list", "data": [{"id": name, "object": "model"} for name in names]}
    server.answers = [Answer.json(listed), Answer.json(listed)]

    known = await make().list_models()
    everything = await make(filtered=False).list_models()

    assert [model.id for model in known] == ["gpt-5.5", "gpt-4.1-mini", "o3"]
    assert [model.id for model in everything] == names
    assert [asked.path for asked in server.asked] == ["/v1/models"] * 2
    assert "thinking" in known[0].capabilities
    assert "thinking" not in known[1].capabilities


@pytest.mark.parametrize(
    ("model", "window", "long", "capability"),
    [
        ("gpt-5.5", 272_000, 1_050_000, "structured_output"),
        ("gpt-5", 400_000, 400_000, "thinking"),
        ("gpt-4.1", 1_047_576, 1_047_576, "vision"),
        ("gpt-4o-2024-08-06", 128_000, 128_000, "structured_output"),
        ("o3-mini", 200_000, 200_000, "thinking"),
        ("somebodys-model", 128_000, 128_000, "structured_output"),
    ],
)
async def test_a_long_context_is_offered_only_if_it_may_cost_more(
    make: Make, model: str, window: int, long: int, capability: str
) -> None:
    usual = make(default_model=model).get_info()
    assert usual.defaults["context_window"] == window
    assert capability in usual.capabilities
    info = make(default_model=model, enable_long_context=True).get_model_info()
    assert info.context_window == long


async def test_a_key_is_never_shown(make: Make) -> None:
    provider = make(base_url="https://user:secret@example.org/v1")
    assert KEY not in repr(provider) + repr(provider.config) + str(provider.get_info())
    assert "secret@" not in repr(provider) + str(provider.get_info())
