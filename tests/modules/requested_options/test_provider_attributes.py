"""The attributes of seed 000 act on every provider, and a model that nobody knows is named once."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from strict_services import SERVICES, body_of, request

from amplifier_providers.settings import SettingError

ANSWERING = {
    "claude without thinking": ("claude-3-haiku", "max_tokens"),
    "gpt without reasoning": ("gpt-4o", "max_output_tokens"),
    "openrouter": ("c/d", "max_tokens"),
    "groq": ("llama", "max_completion_tokens"),
    "mistral": ("n", "max_tokens"),
    "deepseek": ("deepseek-chat", "max_tokens"),
    "ollama": ("llama3.2:latest", "num_predict"),
    "ollama at /v1": ("llama3.2:latest", "max_tokens"),
}
"""Another model of each service, and the field that limits an answer."""


def sent(server: Any) -> dict[str, Any]:
    body = body_of(server)
    return {**body, **body.get("options", {})}


# Holds: provider-22
@pytest.mark.parametrize("name", ANSWERING)
async def test_an_attribute_acts_on_the_next_request(name: str) -> None:
    service, (other, limit) = SERVICES[name], ANSWERING[name]
    with service.server() as server:
        provider = service.provider(server, {})
        untouched = service.provider(server, {})
        await provider.complete(request())
        before = sent(server)
        provider.default_model, provider.max_tokens, provider.temperature = other, 100, 0.5
        await provider.complete(request())
        changed = sent(server)
        await provider.complete(request(model=before["model"], max_output_tokens=200))
        asked = sent(server)
        provider.default_model = provider.max_tokens = provider.temperature = None
        defaults = (provider.max_tokens, provider.temperature)
        provider.default_model = before["model"]
        await provider.complete(request())
        after = sent(server)
        await untouched.complete(request())
        for each in (provider, untouched):
            await each.close()
        assert server.refusals == []

    assert (changed["model"], changed[limit], changed["temperature"]) == (other, 100, 0.5)
    assert (asked["model"], asked[limit], asked["temperature"]) == (before["model"], 200, 0.5)
    assert after == before == sent(server)
    assert defaults == (untouched.max_tokens, untouched.temperature)


# Holds: provider-22
@pytest.mark.parametrize(("name", "family"), [("azure", "gpt-4.1"), ("deployment", "gpt-4.1")])
async def test_the_attributes_act_on_deployments(name: str, family: str) -> None:
    service = SERVICES[name]
    with service.server() as server:
        server.deployments = {"prod": family, "other": family}
        provider = service.provider(server, {}, model_family=family)
        provider.default_model, provider.max_tokens, provider.temperature = "other", 100, 0.5
        await provider.complete(request())
        seen, info = server.requests[-1], provider.get_info()
        await provider.close()
        assert server.refusals == []
    assert (seen.body.get("model"), "/deployments/other/" in seen.path) in {
        ("other", False), (None, True),
    }  # fmt: skip
    assert seen.body["temperature"] == 0.5
    assert 100 in (seen.body.get("max_output_tokens"), seen.body.get("max_completion_tokens"))
    assert (info.defaults["model"], info.defaults["max_tokens"]) == ("other", 100)


async def test_the_effort_is_an_attribute_too() -> None:
    for name, read in (
        ("claude that adapts", lambda body: body["output_config"]["effort"]),
        ("gpt that can stop", lambda body: body["reasoning"]["effort"]),
        ("groq", lambda body: body["reasoning_effort"]),
    ):
        service = SERVICES[name]
        with service.server() as server:
            provider = service.provider(server, {}, reasoning_effort="low")
            provider.reasoning = "high"
            await provider.complete(request())
            await provider.close()
            assert (provider.reasoning, read(body_of(server))) == ("high", "high")
            provider.reasoning = None
            assert provider.reasoning is None


@pytest.mark.parametrize(
    ("attribute", "value", "wanted"),
    [
        ("max_tokens", 0, "`max_tokens` is 0 (must be a whole number, at least 1)"),
        ("max_tokens", "100", "`max_tokens` is '100' (must be a whole number, at least 1)"),
        ("temperature", -1, "`temperature` is -1 (must be a number, at least 0)"),
        ("default_model", 5, "`default_model` is 5 (must be text)"),
    ],
)
def test_a_value_that_an_attribute_cannot_have_is_refused(
    attribute: str, value: Any, wanted: str
) -> None:
    for name in ("claude with a budget", "gpt that can stop", "groq", "ollama"):
        service = SERVICES[name]
        with service.server() as server:
            provider = service.provider(server, {})
            before = getattr(provider, attribute)
            with pytest.raises(SettingError) as caught:
                setattr(provider, attribute, value)
            assert str(caught.value) == f"provider-{provider.name}: {wanted}"
            assert getattr(provider, attribute) == before


# Holds: provider-23
@pytest.mark.parametrize("name", ["azure", "deployment"])
async def test_a_deployment_whose_model_is_not_known_says_so_once(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    for service, expected in ((SERVICES[f"{name} of no known family"], 1), (SERVICES[name], 0)):
        with service.server() as server:
            for _ in range(2):
                caplog.clear()
                provider = service.provider(server, {})
                assert caplog.messages == []
                for _ in range(2):
                    await provider.complete(request())
                await provider.close()
                said = [each for each in caplog.messages if "model_family" in each]
                assert len(said) == expected
                assert all("the deployment `prod`" in each for each in said)
