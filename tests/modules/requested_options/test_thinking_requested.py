"""How much a model is asked to think, in each form and on each provider: it acts, or is reported."""

from __future__ import annotations

from typing import Any

import pytest
from strict_services import SERVICES, body_of, changes, degradations, request

from amplifier_core.llm_errors import InvalidRequestError
from amplifier_providers.anthropic.config import AnthropicConfig
from amplifier_providers.requests.requested_thinking import RequestedThinking, requested_thinking
from amplifier_providers.settings import SettingError

OFF_BY_ENVIRONMENT = {"THINKING_MODE_ENABLED": "false"}
BUDGET = {"type": "enabled", "budget_tokens": 2_048}
BY_ITSELF = "what the model does by itself"
NO_LIMIT = ("a thinking budget of 2,048 tokens", "no limit of its own")
ADAPTS = ("a thinking budget of 2048 tokens", "adaptive thinking")

NOTHING: tuple[dict[str, Any], list[tuple[str, str]]] = ({}, [])

OFF: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "claude with a budget": ({"thinking": None}, []),
    "claude that adapts": ({"thinking": None}, []),
    "claude that always thinks": (
        {
            "output_config": {"effort": "low"},
            "thinking": {"type": "adaptive", "display": "omitted"},
        },
        [("no thinking", "an effort of `low`")],
    ),
    "claude without thinking": NOTHING,
    "gpt that can stop": ({"include": None, "reasoning": {"effort": "none"}}, []),
    "gpt that cannot stop": (
        {"reasoning": {"effort": "minimal"}},
        [("no thinking", "`minimal`")],
    ),
    "gpt without reasoning": NOTHING,
    "azure": ({"reasoning": {"effort": "minimal"}}, [("no thinking", "`minimal`")]),
    "azure of no known family": ({}, [("no thinking", BY_ITSELF)]),
    "deployment": ({"reasoning_effort": "minimal"}, [("no thinking", "`minimal`")]),
    "deployment of no known family": ({}, [("no thinking", BY_ITSELF)]),
    "openai-chat": ({"reasoning_effort": "none"}, []),
    "groq": ({}, [("no thinking", BY_ITSELF)]),
    "openrouter": ({"reasoning": {"enabled": False}}, []),
    "deepseek": ({"thinking": {"type": "disabled"}}, []),
    "mistral": ({}, [("no thinking", BY_ITSELF)]),
    "ollama": ({"think": False}, []),
    "ollama at /v1": ({"reasoning_effort": "none"}, []),
    "ollama with levels": ({"think": "low"}, [("no thinking", "little thinking")]),
    "ollama without thinking": NOTHING,
}
ON = {
    "claude with a budget": NOTHING,
    "claude that adapts": NOTHING,
    "claude that always thinks": NOTHING,
    "claude without thinking": ({}, [("thinking", "no thinking")]),
    "gpt that can stop": ({"reasoning": {"effort": "medium", "summary": "detailed"}}, []),
    "gpt that cannot stop": NOTHING,
    "gpt without reasoning": ({}, [("reasoning", "no reasoning")]),
    "azure": NOTHING,
    "azure of no known family": ({}, [("thinking", BY_ITSELF)]),
    "deployment": NOTHING,
    "deployment of no known family": ({}, [("thinking", BY_ITSELF)]),
    "openai-chat": ({"reasoning_effort": "medium"}, []),
    "groq": ({}, [("thinking", BY_ITSELF)]),
    "openrouter": ({"reasoning": {"enabled": True}}, []),
    "deepseek": ({"thinking": {"type": "enabled"}}, []),
    "mistral": ({}, [("thinking", BY_ITSELF)]),
    "ollama": ({"think": True}, []),
    "ollama at /v1": ({"reasoning_effort": "medium"}, []),
    "ollama with levels": ({"think": "medium"}, []),
    "ollama without thinking": ({}, [("thinking", BY_ITSELF)]),
}
WITH_BUDGET = {
    "claude with a budget": ({"thinking": BUDGET}, []),
    "claude that adapts": ({}, [ADAPTS]),
    "claude that always thinks": ({}, [ADAPTS]),
    "claude without thinking": ON["claude without thinking"],
    "gpt that can stop": (ON["gpt that can stop"][0], [NO_LIMIT]),
    "gpt that cannot stop": ({}, [NO_LIMIT]),
    "gpt without reasoning": ON["gpt without reasoning"],
    "azure": ({}, [NO_LIMIT]),
    "azure of no known family": ({}, [(NO_LIMIT[0], BY_ITSELF)]),
    "deployment": ({}, [NO_LIMIT]),
    "deployment of no known family": ({}, [(NO_LIMIT[0], BY_ITSELF)]),
    "openai-chat": (ON["openai-chat"][0], [NO_LIMIT]),
    "groq": ({}, [(NO_LIMIT[0], BY_ITSELF)]),
    "openrouter": ({"reasoning": {"max_tokens": 2_048}}, []),
    "deepseek": (ON["deepseek"][0], [NO_LIMIT]),
    "mistral": ON["mistral"],
    "ollama": (ON["ollama"][0], [NO_LIMIT]),
    "ollama at /v1": (ON["ollama at /v1"][0], [NO_LIMIT]),
    "ollama with levels": (ON["ollama with levels"][0], [NO_LIMIT]),
    "ollama without thinking": ON["ollama without thinking"],
}
_LOW = {"reasoning": {"effort": "low", "summary": "detailed"}}
WITH_EFFORT = {
    "claude with a budget": ({"thinking": {"type": "enabled", "budget_tokens": 4_096}}, []),
    "claude that adapts": ({"output_config": {"effort": "low"}}, []),
    "claude that always thinks": ({"output_config": {"effort": "low"}}, []),
    "claude without thinking": ON["claude without thinking"],
    "gpt that can stop": (_LOW, []),
    "gpt that cannot stop": (_LOW, []),
    "gpt without reasoning": ON["gpt without reasoning"],
    "azure": (_LOW, []),
    "azure of no known family": ({"include": ["reasoning.encrypted_content"], **_LOW}, []),
    "deployment": ({"reasoning_effort": "low"}, []),
    "deployment of no known family": ({"reasoning_effort": "low"}, []),
    "openai-chat": ({"reasoning_effort": "low"}, []),
    "groq": ({"reasoning_effort": "low"}, []),
    "openrouter": ({"reasoning": {"effort": "low"}}, []),
    "deepseek": ({"reasoning_effort": "low", "thinking": {"type": "enabled"}}, []),
    "mistral": ON["mistral"],
    "ollama": ({"think": True}, [("reasoning effort `low`", "thinking")]),
    "ollama at /v1": (ON["ollama at /v1"][0], [("reasoning effort `low`", "thinking")]),
    "ollama with levels": ({"think": "low"}, []),
    "ollama without thinking": ({}, [("reasoning effort `low`", BY_ITSELF)]),
}


# Holds: provider-17
@pytest.mark.parametrize("name", SERVICES)
async def test_each_form_acts_on_each_provider_or_is_reported(name: str) -> None:
    service = SERVICES[name]
    forms = ((True, ON), (False, OFF), (BUDGET, WITH_BUDGET), ("low", WITH_EFFORT))
    with service.server() as server:
        provider = service.provider(server, {})
        plain = await provider.complete(request())
        before, found = body_of(server), {}
        for value, _ in forms:
            response = await provider.complete(request(), extended_thinking=value)
            found[str(value)] = (changes(before, body_of(server)), degradations(response))
        await provider.close()
        assert server.refusals == []

    assert degradations(plain) == []
    assert found == {str(value): expected[name] for value, expected in forms}


# Holds: provider-18
@pytest.mark.parametrize("name", SERVICES)
async def test_whoever_turns_thinking_off_the_same_is_sent(name: str) -> None:
    service = SERVICES[name]
    with service.server() as server:
        providers = {
            "the call": service.provider(server, {}),
            "the settings": service.provider(server, {}, extended_thinking=False),
            "the environment": service.provider(server, OFF_BY_ENVIRONMENT),
        }
        await providers["the call"].complete(request())
        before, found = body_of(server), {}
        for who, provider in providers.items():
            options = {"extended_thinking": False} if who == "the call" else {}
            response = await provider.complete(request(), **options)
            found[who] = (changes(before, body_of(server)), degradations(response))
            await provider.close()
        assert server.refusals == []

    assert found == dict.fromkeys(providers, OFF[name])


class Settings:
    """Settings of a provider."""

    thinking_mode_enabled = True

    def __init__(self, **settings: Any) -> None:
        vars(self).update(settings)


OFF_BELOW = Settings(thinking_mode_enabled=False)


# Holds: provider-18
@pytest.mark.parametrize(
    ("options", "effort", "settings", "expected"),
    [
        ({}, None, Settings(), RequestedThinking()),
        ({}, None, OFF_BELOW, RequestedThinking(False)),
        ({}, None, Settings(thinking_mode_enabled=False, reasoning="low"), RequestedThinking(True, "low")),
        ({}, "low", OFF_BELOW, RequestedThinking(True, "low")),
        ({}, "low", Settings(extended_thinking=False), RequestedThinking(True, "low")),
        ({}, "none", Settings(reasoning_effort="high"), RequestedThinking(False, is_effort_none=True)),
        ({"extended_thinking": False}, "low", Settings(), RequestedThinking(False)),
        ({"extended_thinking": True}, "low", Settings(), RequestedThinking(True, "low")),
        ({"extended_thinking": True}, "none", OFF_BELOW, RequestedThinking(True)),
        ({"extended_thinking": True}, None, Settings(reasoning="low"), RequestedThinking(True, "low")),
        ({"extended_thinking": True}, None, Settings(thinking_budget_tokens=0), RequestedThinking(True)),
        ({"extended_thinking": False, "reasoning": "low"}, None, Settings(), RequestedThinking(False)),
        ({"extended_thinking": {"type": "disabled"}}, "low", Settings(), RequestedThinking(False)),
        ({"extended_thinking": {"budget_tokens": 0}}, None, Settings(), RequestedThinking(False)),
        ({"extended_thinking": {"effort": "high"}}, "low", Settings(), RequestedThinking(True, "high")),
        ({"extended_thinking": {}}, None, Settings(), RequestedThinking()),
        ({"extended_thinking": "adaptive"}, None, Settings(), RequestedThinking(True, kind="adaptive")),
        ({"extended_thinking": "none"}, None, Settings(), RequestedThinking(False, is_effort_none=True)),
        ({"extended_thinking": BUDGET}, None, Settings(), RequestedThinking(True, None, 2_048, "enabled")),
        ({"thinking_budget_tokens": 5_000}, "low", Settings(), RequestedThinking(True, "low", 5_000)),
        ({"reasoning": {"effort": "low"}}, "high", Settings(), RequestedThinking(True, "low")),
        ({"reasoning": {"enabled": False}}, "high", Settings(), RequestedThinking(False)),
        ({"reasoning": {"summary": "auto"}}, None, Settings(), RequestedThinking()),
    ],
)  # fmt: skip
def test_the_call_goes_before_the_request_the_settings_and_the_environment(
    options: dict[str, Any], effort: str | None, settings: Any, expected: RequestedThinking
) -> None:
    assert requested_thinking(options, effort, settings) == expected


@pytest.mark.parametrize(
    "value",
    ["true", "off", "", "two words", 2_048, 1.5, [], {"budget": 1}, {"type": "on"}, {"type": []},
     {"budget_tokens": -1}, {"budget_tokens": True}, {"effort": 5}],
)  # fmt: skip
async def test_a_value_without_a_meaning_is_refused_by_name(value: Any) -> None:
    wanted = "must be true or false, an effort such as `low`, or"
    service = SERVICES["claude with a budget"]
    with service.server() as server:
        provider = service.provider(server, {})
        with pytest.raises(InvalidRequestError, match=f"`extended_thinking` is .*{wanted}"):
            await provider.complete(request(), extended_thinking=value)
        with pytest.raises(SettingError, match=f"`extended_thinking` is .*{wanted}"):
            service.provider(server, {}, extended_thinking=value)
        assert server.requests == []


@pytest.mark.parametrize("text", ["FALSE", " off ", "no"])
def test_the_variable_is_read_in_the_forms_of_all_limits(text: str) -> None:
    service = SERVICES["claude with a budget"]
    with service.server() as server:
        given = service.provider(server, {"THINKING_MODE_ENABLED": text}).settings
        with pytest.raises(SettingError, match="`THINKING_MODE_ENABLED` is 'soon'"):
            service.provider(server, {"THINKING_MODE_ENABLED": "soon"})
    assert given.thinking_mode_enabled is False
    assert AnthropicConfig(api_key="k").thinking_mode_enabled is True
