"""Names of providers, keys and settings: what goes before what, and what never goes where."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcllm import ArcLLMConfigError, VaultResolver, clear_cache, load_model, load_provider_config
from arcllm.config.names import is_name, split_target
from arcllm.config.tables import VaultTable
from arcllm.config.target import find_target

SECRET = "the-secret-of-the-vault"


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = tmp_path / "config.toml"
    path.write_text("")
    monkeypatch.setenv("ARCLLM_CONFIG", str(path))
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "WORK_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    clear_cache()
    yield path
    clear_cache()


class FakeVault:
    """A vault in memory, whose secrets change each time."""

    asked: int = 0
    answer: Any = SECRET

    def __init__(self, **settings: Any) -> None:
        self.settings = settings

    def get_secret(self, path: str) -> Any:
        FakeVault.asked += 1
        if isinstance(FakeVault.answer, Exception):
            raise FakeVault.answer
        return FakeVault.answer


@pytest.fixture
def vault(monkeypatch: pytest.MonkeyPatch) -> type[FakeVault]:
    import sys
    from types import ModuleType

    module = ModuleType("a_vault")
    module.Vault = FakeVault  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "a_vault", module)
    monkeypatch.setattr(FakeVault, "asked", 0)
    monkeypatch.setattr(FakeVault, "answer", SECRET)
    return FakeVault


VAULT = """
[vault]
backend = "a_vault:Vault"
[providers.work]
api_format = "openai"
vault_path = "llm/work"
"""


@pytest.mark.parametrize(
    ("provider", "model", "target"),
    [
        ("openai", None, ("openai", None)),
        ("openai", "gpt-5", ("openai", "gpt-5")),
        ("openai:gpt-5", None, ("openai", "gpt-5")),
        ("ollama:llama3.2:3b", None, ("ollama", "llama3.2:3b")),
        ("openrouter:meta/llama:free", None, ("openrouter", "meta/llama:free")),
    ],
)
def test_a_model_is_named_beside_its_provider_or_after_it(
    provider: str, model: str | None, target: tuple[str, str | None]
) -> None:
    assert split_target(provider, model) == target


# Holds: arcllm-16
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("opnai",), "`opnai` is not a provider (did you mean `openai`?)"),
        (("lm-studio",), "(did you mean `lm_studio`?)"),
        (("OpenAI",), "a letter first, at most 64 characters) (did you mean `openai`?)"),
        (("?",), "`anthropic`, `azure_openai`, `deepseek`"),
        (("a" * 65,), "at most 64 characters"),
        (("open\nai",), r"`open\nai` is not the name"),
        ((None,), "`None` is not the name of a provider"),
        (("openai:",), "'openai:' names no model (must be `provider:model`)"),
        (("openai:a", "b"), "two models are named: in 'openai:a' and by `model='b'`"),
        (("openai", ""), "`model` is '' (must be the name of a model, or None)"),
        (("openai", 3), "`model` is 3 (must be the name of a model, or None)"),
        (("openai",), "`openai` has no API key; set `OPENAI_API_KEY`"),
    ],
)
def test_a_name_that_cannot_be_meant_is_answered_with_one_that_can(
    arguments: tuple[Any, ...], said: str
) -> None:
    with pytest.raises(ArcLLMConfigError) as caught:
        load_model(*arguments)
    assert said in caught.value.message


# Holds: arcllm-16
@pytest.mark.parametrize(
    ("layer", "key", "setting"),
    [("fallback", "chain", "`chain.1`"), ("routing", "models", "`models.1`")],
)
@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("opnai:gpt-5", "`opnai` is not a provider (did you mean `openai`?)"),
        ("lm-studio", "(did you mean `lm_studio`?)"),
        ("unfit", "`unfit.toml`: `api_format` is `opnai` for `unfit` (must be a provider)"),
    ],
)
def test_a_model_that_a_layer_may_turn_to_must_have_a_provider_that_exists(
    layer: str, key: str, setting: str, target: str, said: str, file: Path
) -> None:
    unfit = file.parent / "providers" / "unfit.toml"
    unfit.parent.mkdir()
    unfit.write_text("[provider]\napi_format = 'opnai'")
    said = said.replace("`unfit.toml`", f"`{unfit}`")
    names = ["openai:gpt-5", target]
    layers: dict[str, Any] = {layer: {key: names}}

    with pytest.raises(ArcLLMConfigError) as by_program:
        load_model("openai", api_key="k", **layers)
    assert by_program.value.message.startswith(f"{layer}: {setting}: ")
    assert said in by_program.value.message

    file.write_text(f"[modules.{layer}]\nenabled = true\n{key} = {names}")
    clear_cache()
    with pytest.raises(ArcLLMConfigError) as by_file:
        load_model("openai", api_key="k")
    where = f" (see `[modules.{layer}]` in `{file}`)"
    assert by_file.value.message == by_program.value.message + where


def test_a_fallback_may_get_its_key_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

    assert load_model("openai", api_key="k", fallback={"chain": ["anthropic"]}).name == "openai"


def test_a_setting_that_does_not_exist_is_answered_with_one_that_does() -> None:
    with pytest.raises(ArcLLMConfigError, match=r"`timeot` of `openai`.*did you mean `timeout`"):
        load_model("openai", api_key="k", timeot=3)
    with pytest.raises(ArcLLMConfigError, match=r"`retry` is 3 .must be true, false, or a mapping"):
        load_model("openai", api_key="k", retry=3)  # type: ignore[arg-type]
    with pytest.raises(ArcLLMConfigError, match=r"^retry: `max_retris` is unknown \(did you mean"):
        load_model("openai", api_key="k", retry={"max_retris": 3})


# Holds: arcllm-16
def test_a_model_that_nobody_knows_is_passed_on() -> None:
    model = load_model("openai", "gpt-99-imaginary", api_key="a-key")

    assert (model.name, model.model_name) == ("openai", "gpt-99-imaginary")
    assert repr(model) == "Model('openai:gpt-99-imaginary')"


@given(st.text(max_size=70))
def test_names_are_those_of_the_rule(name: str) -> None:
    assert is_name(name) == bool(re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name))


def test_the_program_goes_before_the_provider_and_that_before_the_defaults(file: Path) -> None:
    file.write_text("""
        [defaults]
        temperature = 0.1
        max_tokens = 10
        timeout = 1
        [providers.openai]
        default_temperature = 0.2
        default_model = "from-the-file"
        [providers.openai.settings]
        max_tokens = 20
    """)

    by_file = find_target("openai", None, {})
    by_program = find_target("openai", "mine", {"max_tokens": 30, "temperature": 0.3})

    assert (by_file.model, by_file.settings) == (
        "from-the-file",
        {"temperature": 0.2, "max_tokens": 20, "timeout": 1},
    )
    assert (by_program.model, by_program.settings) == (
        "mine",
        {"temperature": 0.3, "max_tokens": 30, "timeout": 1},
    )


# Holds: arcllm-17
def test_costs_hold_for_their_model_alone(file: Path) -> None:
    file.write_text("""
        [providers.openai.models.gpt-5]
        cost_input_per_1m = 1
        cost_output_per_1m = 2
        [providers.openai.models.gpt-5-mini]
        context_window = 8
    """)
    price = {"input": Decimal(1), "output": Decimal(2)}

    assert find_target("openai", "gpt-5", {}).settings == {"prices": {"gpt-5": price}}
    assert find_target("openai", "gpt-5-mini", {}).settings == {}
    assert find_target("openai", "gpt-5-nano", {}).settings == {}
    assert find_target("openai", None, {}).settings == {}
    assert find_target("openai", "gpt-5", {}).settings == {"prices": {"gpt-5": price}}


def test_a_provider_of_the_file_has_its_name_and_the_api_of_another(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text('[providers.work]\napi_format = "openai"\nbase_url = "https://a.example/v1"')
    monkeypatch.setenv("WORK_API_KEY", "a-key-of-work")

    model = load_model("work:large")

    assert (model.name, model.model_name) == ("work", "large")
    assert load_provider_config("work").api_format == "openai"


# Holds: arcllm-18
def test_the_key_of_another_service_is_never_sent(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = '[providers.work]\napi_format = "openai"\nbase_url = "https://a.example/v1"\n'
    monkeypatch.setenv("OPENAI_API_KEY", "the-key-of-openai")
    file.write_text(work)
    with pytest.raises(ArcLLMConfigError, match="`work` needs an API key: set `WORK_API_KEY`"):
        load_model("work")

    file.write_text(f"{work}api_key_required = false")
    clear_cache()
    assert find_target("work", None, {}).settings["api_key"] == "unused"


@pytest.mark.parametrize("is_required", [True, False])
def test_the_variable_of_the_key_may_have_another_name(
    is_required: bool, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    required = str(is_required).lower()
    file.write_text(f'[providers.openai]\napi_key_env = "MY_KEY"\napi_key_required = {required}')
    monkeypatch.setenv("MY_KEY", " mine ")
    monkeypatch.setenv("OPENAI_API_KEY", "not-mine")

    assert find_target("openai", None, {}).settings["api_key"] == "mine"
    assert find_target("openai", None, {"api_key": "given"}).settings["api_key"] == "given"


# Holds: arcllm-18
def test_a_vault_goes_before_the_environment_and_never_into_it(
    file: Path, vault: type[FakeVault], monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(VAULT)
    monkeypatch.setenv("WORK_API_KEY", "a-key-of-work")
    before = dict(os.environ)

    model = load_model("work", "large")

    assert find_target("work", None, {}).settings["api_key"] == SECRET
    assert vault.asked == 1
    assert dict(os.environ) == before
    assert SECRET not in repr(model)


def test_where_the_vault_fails_the_environment_is_asked(
    file: Path,
    vault: type[FakeVault],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    file.write_text(VAULT)
    monkeypatch.setenv("WORK_API_KEY", "a-key-of-work")
    monkeypatch.setattr(vault, "answer", OSError(f"could not send {SECRET}"))

    with caplog.at_level(logging.WARNING):
        assert find_target("work", None, {}).settings["api_key"] == "a-key-of-work"
    assert caplog.messages == [
        "the vault cannot read `llm/work` (OSError); the environment is asked"
    ]

    monkeypatch.setattr(vault, "answer", None)
    assert find_target("work", None, {}).settings["api_key"] == "a-key-of-work"
    monkeypatch.delenv("WORK_API_KEY")
    with pytest.raises(ArcLLMConfigError, match="`work` needs an API key"):
        find_target("work", None, {})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (VAULT.replace("a_vault:Vault", "no_such_module:Vault"), "ModuleNotFoundError: No module"),
        (VAULT.replace("a_vault:Vault", "a_vault:Volt"), "the vault `a_vault:Volt` cannot be used"),
        (VAULT.replace("a_vault:Vault", "builtins:dict"), "has no method `get_secret(path)`"),
        (VAULT.replace('backend = "a_vault:Vault"', ""), "`vault_path` needs a vault"),
    ],
)
def test_a_vault_that_cannot_be_used_is_an_error(
    content: str, said: str, file: Path, vault: type[FakeVault]
) -> None:
    del vault
    file.write_text(content)

    with pytest.raises(ArcLLMConfigError) as caught:
        load_model("work")
    assert said in caught.value.message


def test_a_secret_that_is_no_text_is_an_error(
    file: Path, vault: type[FakeVault], monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(VAULT)
    monkeypatch.setattr(vault, "answer", {"key": SECRET})

    with pytest.raises(ArcLLMConfigError, match="the vault has a `dict` at `llm/work`") as caught:
        load_model("work")
    assert SECRET not in caught.value.message


@given(ttl=st.floats(0, 1000), waits=st.lists(st.floats(0, 1000), max_size=10))
def test_a_secret_is_asked_for_once_in_its_time(ttl: float, waits: list[float]) -> None:
    now, asked = [0.0], list[float]()

    class Clocked:
        def get_secret(self, path: str) -> str:
            asked.append(now[0])
            return path

    resolver = VaultResolver(VaultTable(backend="a:B", cache_ttl_seconds=ttl), clock=lambda: now[0])
    resolver._vault = Clocked()
    expected, fresh_until = list[float](), -1.0
    for wait in [0.0, *waits]:
        now[0] += wait
        if now[0] >= fresh_until:
            expected.append(now[0])
            fresh_until = now[0] + ttl
        assert resolver.secret("a/path") == "a/path"
    assert asked == expected


def test_the_time_of_a_secret_is_300_seconds_if_not_set() -> None:
    assert VaultTable(backend="a:B").cache_ttl_seconds == 300
