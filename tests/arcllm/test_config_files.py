"""What the TOML files say, and what is said of what they cannot say."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from platformdirs import user_config_path

from arcllm import (
    ArcLLMConfigError,
    GlobalConfig,
    ModelTable,
    ProviderTable,
    clear_cache,
    load_global_config,
    load_model,
    load_provider_config,
)
from arcllm.config.files import config_path

KEY = {"api_key": "a-key-of-the-tests"}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = tmp_path / "config.toml"
    monkeypatch.setenv("ARCLLM_CONFIG", str(path))
    clear_cache()
    yield path
    clear_cache()


def refusal(read: Callable[[], object]) -> str | None:
    """What is said of the configuration; None if it is read."""
    try:
        read()
    except ArcLLMConfigError as error:
        return error.message
    return None


def test_the_file_is_that_of_the_variable_else_that_of_the_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home = Path.home()

    monkeypatch.setenv("XDG_CONFIG_HOME", "/x")
    monkeypatch.setenv("ARCLLM_CONFIG", "/etc/a.toml")
    assert config_path() == Path("/etc/a.toml")
    monkeypatch.setenv("ARCLLM_CONFIG", "~/a.toml")
    assert config_path() == home / "a.toml"
    monkeypatch.setenv("ARCLLM_CONFIG", " ")
    assert config_path() == Path("/x/arcllm/config.toml")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert config_path() == user_config_path("arcllm", appauthor=False) / "config.toml"


def test_without_a_file_the_configuration_is_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARCLLM_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    clear_cache()

    assert load_global_config() == GlobalConfig()
    assert load_global_config().path is None
    assert load_provider_config("openai") == ProviderTable()


def test_all_tables_are_read(file: Path) -> None:
    file.write_text("""
        [defaults]
        model = "work:large"
        max_tokens = 100
        [modules.retry]
        enabled = true
        max_retries = 5
        [providers.work]
        api_format = "openai_chat"
        base_url = "https://llm.example.com/v1"
        api_key_env = "WORK_KEY"
        [providers.work.settings]
        timeout = 30
        [providers.work.models.large]
        context_window = 200_000
        supports_tools = true
        cost_input_per_1m = 1.25
        cost_output_per_1m = "10"
        [vault]
        backend = "a.b:C"
    """)

    work = ProviderTable(
        api_format="openai_chat",
        base_url="https://llm.example.com/v1",
        api_key_env="WORK_KEY",
        settings={"timeout": 30},
        models={
            "large": ModelTable(
                context_window=200_000,
                supports_tools=True,
                cost_input_per_1m=Decimal("1.25"),
                cost_output_per_1m=Decimal(10),
            )
        },
    )
    config = load_global_config()
    assert config.path == file
    assert config.defaults.model_dump(exclude_none=True) == {
        "model": "work:large",
        "max_tokens": 100,
    }
    assert config.modules == {"retry": {"enabled": True, "max_retries": 5}}
    assert config.providers == {"work": work}
    assert config.vault.backend == "a.b:C"
    assert load_provider_config("work") == work


def test_a_provider_may_have_a_file_of_its_own(file: Path) -> None:
    (file.parent / "providers").mkdir()
    file.write_text("")
    (file.parent / "providers/work.toml").write_text("""
        [provider]
        api_format = "openai_chat"
        [models.large]
        context_window = 8
    """)

    assert load_provider_config("work") == ProviderTable(
        api_format="openai_chat", models={"large": ModelTable(context_window=8)}
    )

    file.write_text('[providers.work]\napi_format = "openai"\n')
    clear_cache()
    with pytest.raises(ArcLLMConfigError, match=r"`work` is both in `.*config.toml` and in"):
        load_provider_config("work")


def test_what_is_read_belongs_to_its_reader(file: Path) -> None:
    file.write_text("[modules.retry]\nmax_retries = 5\n[providers.work.settings]\ntimeout = 3\n")
    load_global_config().modules["retry"]["max_retries"] = 9
    load_provider_config("work").settings["timeout"] = 9

    assert load_global_config().modules == {"retry": {"max_retries": 5}}
    assert load_provider_config("work").settings == {"timeout": 3}


def test_a_file_is_read_again_after_the_caches_are_cleared(file: Path) -> None:
    file.write_text("[defaults]\nmax_tokens = 1\n")
    first = load_global_config()
    file.write_text("[defaults]\nmax_tokens = 2\n")

    assert load_global_config() == first
    clear_cache()
    assert load_global_config().defaults.max_tokens == 2


def test_threads_read_a_file_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from arcllm.config import files

    file.write_text("[defaults]\nmax_tokens = 1\n")
    read, real = list[Path](), files._read_toml

    def reading(path: Path) -> Any:
        read.append(path)
        return real(path)

    monkeypatch.setattr(files, "_read_toml", reading)
    threads = [threading.Thread(target=load_global_config) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert read == [file]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a = [", "`FILE` is not TOML: Invalid value (at end of document)"),
        ("a = 1\na = 2", "`FILE` is not TOML: Cannot overwrite a value (at end of document)"),
        ("a = " + "[" * 5000, "`FILE` is not TOML: it is nested too deeply"),
        ("a = " + "9" * 5000, "`FILE` is not TOML: "),
        ("default = 1", "`FILE`: `default` is unknown (did you mean `defaults`?)"),
        ("defaults = 1", "`FILE`: `defaults` is 1 (must be a mapping)"),
        (
            "[defaults]\ntemperature = nan",
            "`FILE`: `defaults.temperature` is nan (must be a number, at least 0)",
        ),
        (
            "[defaults]\nmax_tokens = 1979-05-27",
            "`FILE`: `defaults.max_tokens` is of type `date` (must be a whole number, at least 1)",
        ),
        ("[modules]\nretry = 3", "`FILE`: `modules.retry` is 3 (must be a mapping)"),
        ("[modules.retri]", "`FILE`: `[modules.retri]` is not a layer (did you mean `retry`?)"),
        (
            "[modules.retry]\nenabled = 1",
            "`FILE`: `modules.retry.enabled` is 1 (must be true or false)",
        ),
        (
            "[modules.retry]\nenabled = true\nmax_retries = 'x'",
            ("retry: `max_retries` is 'x' (must be a whole number, at least 0, at most 100)"
            " (see `[modules.retry]` in `FILE`)"),
        ),
        (
            "[providers.Work]",
            ("`FILE`: `Work` is not the name of a provider (small letters, digits and `_`,"
            " a letter first, at most 64 characters)"),
        ),
        (
            "[providers.openai]\napi_key = 'secret'",
            "`FILE`: `providers.openai.api_key` is unknown (did you mean `api_key_env`?)",
        ),
        (
            "[providers.openai]\napi_format = 'opnai'",
            ("`FILE`: `api_format` is `opnai` for `openai` (must be a provider)"
            " (did you mean `openai`?)"),
        ),
        (
            "[providers.openai.models.a]\ncost_input_per_1m = 3",
            ("`FILE`: `providers.openai.models.a` is of type `dict` (must have `cost_input_per_1m`"
            " and `cost_output_per_1m`, or no cost at all)"),
        ),
        (
            "[providers.openai.models.a]\ncost_input_per_1m = -3",
            ("`FILE`: `providers.openai.models.a.cost_input_per_1m` is -3 (must be US dollars from 0"
            " to below 1,000,000, "),
        ),
        (
            "[providers.openai.settings]\ntimeout = 'x'",
            "(see `openai` in `FILE`)",
        ),
        (
            "[providers.openai.settings]\ntimeot = 3",
            "(see `openai` in `FILE`)",
        ),
        (
            "[providers.openai]\nbase_url = 'http://example.com'",
            ("the address of `openai` is `http://example.com` (must be `https://…`, unless the server"
            " is local) (see `openai` in `FILE`)"),
        ),
        ("[vault]\nbackend = 'x'", "`FILE`: `vault.backend` is 'x' (must be `module:Class`)"),
    ],
)  # fmt: skip
def test_what_a_file_cannot_say_is_named_with_the_key_and_the_file(
    content: str, said: str, file: Path
) -> None:
    file.write_text(content)

    with pytest.raises(ArcLLMConfigError) as caught:
        load_model("openai", **KEY)
    message = caught.value.message.replace(str(file), "FILE")
    assert said in message
    assert "secret" not in message


def test_a_file_that_cannot_be_read_is_named(file: Path) -> None:
    with pytest.raises(ArcLLMConfigError, match=r"`ARCLLM_CONFIG` is `.*`, which does not exist"):
        load_global_config()
    file.write_bytes(b"a = '\xff'")
    with pytest.raises(ArcLLMConfigError, match="is not UTF-8: byte 5"):
        load_global_config()
    file.write_bytes(b"#" * (1024**2 + 1))
    with pytest.raises(ArcLLMConfigError, match="is larger than 1,048,576 bytes"):
        load_global_config()
    file.unlink()
    file.mkdir()
    with pytest.raises(ArcLLMConfigError, match="is not a file"):
        load_global_config()


SCALARS: list[tuple[str, str]] = [
    ("text", "'x'"),
    ("number", "3"),
    ("decimal", "1.5"),
    ("infinity", "-inf"),
    ("switch", "true"),
    ("date", "1979-05-27T07:32:00Z"),
    ("list", "[1, 'a', {}]"),
    ("table", "{ a = 1 }"),
]
PLACES: dict[str, set[str]] = {
    "defaults": {"table"},
    "defaults.model": {"text"},
    "defaults.temperature": {"number", "decimal"},
    "defaults.max_tokens": {"number"},
    "defaults.timeout": {"number", "decimal"},
    "vault": {"table"},
    "vault.backend": set[str](),
    "vault.cache_ttl_seconds": {"number", "decimal"},
    "vault.settings": {"table"},
    "modules": {"table"},
    "modules.retry": {"table"},
    "providers": {"table"},
    "providers.a": {"table"},
    "providers.a.api_format": {"text"},
    "providers.a.base_url": {"text"},
    "providers.a.api_key_env": {"text"},
    "providers.a.api_key_required": {"switch"},
    "providers.a.vault_path": {"text"},
    "providers.a.default_model": {"text"},
    "providers.a.default_temperature": {"number", "decimal"},
    "providers.a.settings": {"table"},
    "providers.a.models": {"table"},
    "providers.a.models.b": {"table"},
    "providers.a.models.b.context_window": {"number"},
    "providers.a.models.b.supports_vision": {"switch"},
    "providers.a.models.b.input_modalities": set[str](),
    "providers.a.models.b.cost_input_per_1m": {"number", "decimal"},
}


# Holds: arcllm-15
@given(place=st.sampled_from(sorted(PLACES)), kind=st.sampled_from(SCALARS))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_value_of_a_wrong_type_is_named_with_its_key_and_the_file(
    place: str, kind: tuple[str, str], file: Path
) -> None:
    name, value = kind
    file.write_text(f"{place} = {value}\n")
    clear_cache()

    said = refusal(load_global_config)
    if name not in PLACES[place]:
        assert said is not None
        assert said.startswith(f"`{file}`: `{place}")
    elif name != "table" and "cost_" not in place:  # a cost needs another one beside it
        assert said is None


TOML = st.recursive(
    st.sampled_from([value for _, value in SCALARS if "{" not in value]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.dictionaries(
            st.sampled_from(["a", "work", "enabled", "'ö\\u0000 `'", "models", "''"]),
            inner,
            max_size=3,
        ).map(
            lambda table: "{" + ", ".join(f"{key} = {item}" for key, item in table.items()) + "}"
        ),
    ),
    max_leaves=8,
)


# Holds: arcllm-15
@given(
    table=st.sampled_from(
        ["defaults", "vault", "modules", "providers", "modules.retry", "nothing"]
    ),
    content=TOML,
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_file_says_it_is_read_or_a_configuration_error(
    table: str, content: str, file: Path
) -> None:
    file.write_text(f"{table} = {content}\n")
    clear_cache()

    said = refusal(lambda: load_model("openai", retry=True, **KEY))

    assert said is None or "\n" not in said


# Holds: arcllm-15
@given(content=st.binary(max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_bytes_a_file_holds_it_is_read_or_a_configuration_error(
    content: bytes, file: Path
) -> None:
    file.write_bytes(content)
    clear_cache()

    said = refusal(load_global_config)

    assert said is None or said.startswith(f"`{file}`")
