"""How `provider-azure-openai` is set up: addresses, keys, deployments, variables."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from amplifier_core import ModuleCoordinator
from amplifier_core.llm_errors import ConfigurationError
from amplifier_providers import azure_openai
from amplifier_providers.azure_openai import AzureOpenAIProvider, read_config
from amplifier_providers.azure_openai.config import Place, place_of

HOST = "https://res.openai.azure.com"
V1 = f"{HOST}/openai/v1"
CLASSIC = f"{HOST}/openai/deployments/prod"


@pytest.mark.parametrize(
    ("address", "place"),
    [
        (HOST, Place(V1)),
        (f"{HOST}/", Place(V1)),
        (f"{HOST}/openai", Place(V1)),
        (f"{HOST}/openai/v1/", Place(V1)),
        (f"{HOST}/openai/v1/responses", Place(V1)),
        (f"{HOST}/openai/v1/?api-version=preview", Place(V1, api_version="preview")),
        (
            f"{HOST}/openai/responses?api-version=2025-04-01-preview",
            Place(V1, api_version="2025-04-01-preview"),
        ),
        (
            "https://res.services.ai.azure.com/openai/v1",
            Place("https://res.services.ai.azure.com/openai/v1"),
        ),
        ("https://gateway.example.org/azure", Place("https://gateway.example.org/azure/openai/v1")),
        (CLASSIC, Place(CLASSIC, "prod")),
        (
            f"{CLASSIC}/chat/completions?api-version=2024-10-21",
            Place(CLASSIC, "prod", "2024-10-21"),
        ),
        (f"{HOST}/openai/deployments/a%20b", Place(f"{HOST}/openai/deployments/a%20b", "a b")),
    ],
)
def test_both_forms_of_addresses_are_told_apart(address: str, place: Place) -> None:
    assert place_of(address) == place
    assert place.speaks_responses == ("deployments" not in address)


@pytest.mark.parametrize(
    "address", ["res.openai.azure.com", "https://", f"{HOST}?x=1", f"{HOST}#a"]
)
def test_what_is_no_address_is_named(address: str) -> None:
    with pytest.raises(ConfigurationError, match=r"`endpoint` is of type `str` \(must be an addr"):
        read_config({"endpoint": address, "api_key": "k"}, {})


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"endpoint": HOST, "base_url": "https://other"}, "`endpoint` and `base_url` differ"),
        (
            {"endpoint": HOST, "default_deployment": "a", "default_model": "b"},
            "`default_deployment` and `default_model` differ",
        ),
        ({"endpoint": CLASSIC}, "`api_version` is missing (the address of a deployment needs it)"),
        ({"endpoint": HOST, "use_default_credential": "yes"}, "`use_default_credential` is 'yes'"),
    ],
)
def test_settings_that_contradict_each_other_are_named(config: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_config({"api_key": "k", **config}, {})
    assert named in str(caught.value)


def test_the_same_thing_said_twice_is_said_once() -> None:
    config = {
        "endpoint": HOST,
        "base_url": f"{V1}/",
        "default_deployment": "prod",
        "default_model": "prod",
        "api_key": "k",
    }
    settings = read_config(config, {})
    assert not isinstance(settings, str)
    assert (settings.place, settings.deployment) == (Place(V1), "prod")


@pytest.mark.parametrize(
    ("config", "deployment"),
    [
        ({}, "gpt-5.5"),
        ({"default_model": "a"}, "a"),
        ({"default_deployment": "b"}, "b"),
        ({"endpoint": CLASSIC, "api_version": "v"}, "prod"),
    ],
)
def test_the_deployment_comes_from_either_name_or_the_address(
    config: dict[str, Any], deployment: str
) -> None:
    settings = read_config({"endpoint": HOST, "api_key": "k", **config}, {})
    assert not isinstance(settings, str)
    assert settings.deployment == deployment


@pytest.mark.parametrize(
    ("variables", "found"),
    [
        ({"AZURE_OPENAI_ENDPOINT": HOST, "AZURE_OPENAI_API_KEY": "a"}, {"api_key": "a"}),
        ({"AZURE_OPENAI_BASE_URL": HOST, "AZURE_OPENAI_KEY": "b"}, {"api_key": "b"}),
        (
            {
                "AZURE_OPENAI_ENDPOINT": HOST,
                "AZURE_OPENAI_API_KEY": "a",
                "AZURE_OPENAI_KEY": "b",
            },
            {"api_key": "a"},
        ),
        (
            {
                "AZURE_OPENAI_ENDPOINT": CLASSIC,
                "AZURE_OPENAI_API_KEY": "a",
                "AZURE_OPENAI_API_VERSION": "2024-10-21",
            },
            {"api_version": "2024-10-21", "params": {"api-version": "2024-10-21"}},
        ),
        (
            {
                "AZURE_OPENAI_ENDPOINT": HOST,
                "AZURE_USE_MANAGED_IDENTITY": "true",
                "AZURE_MANAGED_IDENTITY_CLIENT_ID": "id",
            },
            {
                "api_key": None,
                "use_managed_identity": True,
                "managed_identity_client_id": "id",
                "has_identity": True,
            },
        ),
        (
            {"AZURE_OPENAI_ENDPOINT": HOST, "AZURE_USE_DEFAULT_CREDENTIAL": "1"},
            {"use_default_credential": True, "has_identity": True},
        ),
    ],
)
def test_variables_fill_what_the_config_leaves_open(
    variables: dict[str, str], found: dict[str, Any]
) -> None:
    for blank in (None, {"api_key": " ", "endpoint": ""}):
        settings = read_config(blank, variables)
        assert not isinstance(settings, str)
        assert {key: getattr(settings, key) for key in found} == found


def test_a_switch_that_is_neither_on_nor_off_is_named() -> None:
    variables = {"AZURE_OPENAI_ENDPOINT": HOST, "AZURE_USE_DEFAULT_CREDENTIAL": "perhaps"}
    with pytest.raises(ConfigurationError, match="`AZURE_USE_DEFAULT_CREDENTIAL` is 'perhaps'"):
        read_config({}, variables)


@pytest.mark.parametrize(
    ("config", "missing"),
    [({"api_key": "k"}, "`AZURE_OPENAI_ENDPOINT`"), ({"endpoint": HOST}, "`AZURE_OPENAI_API_KEY`")],
)
async def test_what_is_missing_is_a_warning_and_nothing_is_mounted(
    caplog: pytest.LogCaptureFixture, config: dict[str, Any], missing: str
) -> None:
    coordinator = ModuleCoordinator()
    assert await azure_openai.mount(coordinator, config) is None
    assert not coordinator.get("providers")
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert missing in record.message


async def test_a_version_without_effect_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    config = {"endpoint": HOST, "api_key": "k", "api_version": "2024-10-21"}
    close = await azure_openai.mount(ModuleCoordinator(), config)
    assert close is not None
    await close()
    (record,) = caplog.records
    assert "API version `2024-10-21` has no effect" in record.message


async def test_a_provider_is_mounted_under_its_name_and_shows_no_secret() -> None:
    coordinator = ModuleCoordinator()
    config = {"endpoint": "https://me:hidden@host", "api_key": "hidden-too", "priority": 7}
    close = await azure_openai.mount(coordinator, config)
    assert close is not None
    provider: AzureOpenAIProvider = coordinator.get("providers")["azure-openai"]
    info = provider.get_info()
    assert (info.id, provider.priority) == ("azure-openai", 7)
    assert "hidden" not in repr(provider) + repr(provider.config) + str(info)
    await close()
