"""The one reader of settings: what it takes, what it refuses, and what it never tells."""

from __future__ import annotations

import copy
import importlib
import logging
import pickle
from collections import UserDict
from typing import Annotated, Any, ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from amplifier_core.llm_errors import ConfigurationError
from amplifier_modules import MODULES
from amplifier_modules.loops.settings import LoopSettings
from amplifier_providers.settings import Env, SettingError, Settings, env_of, read_settings
from amplifier_providers.value_problems import Form

SECRET = "s3cr3t-pa55word"


class Inner(Settings):
    token: str = Field(default="", repr=False)
    count: int = Field(default=1, ge=1, le=9)


class Sample(Settings):
    unknown_keys = "warn"
    ignored_keys = frozenset({"raw"})
    renamed_keys: ClassVar[dict[str, str]] = {"old": "words"}

    key: Annotated[str, Env("SAMPLE_KEY")] = Field(default="", max_length=20, repr=False)
    words: tuple[str, ...] = Field(default=(), strict=False)
    values: list[Any] = Field(default_factory=list[Any])
    level: Literal["low", "high"] = "low"
    seconds: Annotated[float, Env("SAMPLE_SECONDS", float)] = Field(default=1.0, gt=0)
    odd: Annotated[int | None, Form("an odd number")] = Field(default=None, multiple_of=3)
    inner: Inner | None = None
    by_name: dict[str, Inner] = Field(default_factory=dict[str, Inner])


class Strict(Sample):
    unknown_keys = "refuse"
    none_is_absent = False


def read(config: Any, model: type[Settings] = Sample, **environment: str) -> Any:
    return read_settings(model, config, "provider-acme", environment)


def refused(config: Any, model: type[Settings] = Sample, **environment: str) -> SettingError:
    with pytest.raises(SettingError) as caught:
        read(config, model, **environment)
    return caught.value


@pytest.mark.parametrize("config", [None, {}, [], {"seconds": None, "inner": None}])
def test_what_is_absent_or_none_has_its_default(config: Any) -> None:
    assert read(config) == Sample()


def test_any_mapping_is_a_config_at_any_depth() -> None:
    config = UserDict({"inner": UserDict({"count": 3, "token": None})})
    assert read(config) == Sample(inner=Inner(count=3))


# Holds: setting-1
@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({"seconds": "soon"}, "`seconds` is 'soon' (must be a number, above 0)"),
        ({"seconds": float("nan")}, "`seconds` is nan (must be a number, above 0)"),
        ({"seconds": True}, "`seconds` is True (must be a number, above 0)"),
        ({"level": "medium"}, "`level` is 'medium' (must be `low` or `high`)"),
        ({"words": 5}, "`words` is 5 (must be a list, each item text)"),
        ({"words": ["a", {}]}, "`words.1` is of type `dict` (must be a list, each item text)"),
        ({"values": 5}, "`values` is 5 (must be a list)"),
        ({"odd": 4}, "`odd` is 4 (must be an odd number)"),
        ({"inner": "x"}, "`inner` is 'x' (must be a mapping)"),
        (
            {"inner": {"count": 10}},
            "`inner.count` is 10 (must be a whole number, at least 1, at most 9)",
        ),
        ({"inner": {"cuont": 2}}, "`inner.cuont` is unknown (did you mean `count`?)"),
        ({"inner": {"zzz": 2}}, "`inner.zzz` is unknown (known: `count`, `token`)"),
        ({"by_name": {"inner": {"cont": 2}}}, "`by_name.inner.cont` is unknown (did you mean"),
        ({"by_name": {"count": {"count": 0}}}, "`by_name.count.count` is 0 (must be a whole"),
        ({"level": "x" * 999}, "`level` is 'xxx"),
    ],
)
def test_an_error_says_what_was_found_and_what_would_be_right(config: Any, text: str) -> None:
    error = refused(config)
    assert str(error).startswith(f"provider-acme: {text}")
    assert len(str(error)) < 400
    assert (error.module, error.provider) == ("provider-acme", "acme")
    assert text.startswith(f"`{error.key}` ")


def test_all_that_is_wrong_is_named_at_once() -> None:
    assert str(refused({"seconds": 0, "level": "mid"})) == (
        "provider-acme: `level` is 'mid' (must be `low` or `high`);"
        " `seconds` is 0 (must be a number, above 0)"
    )


class Demanding(Settings):
    key: str
    inner: Inner


def test_an_error_lists_the_required_keys_that_are_absent() -> None:
    error = refused({"inner": {"count": 0}}, Demanding)
    assert error.missing == ("key",)
    assert str(error).startswith("provider-acme: `key` is missing (must be text); `inner.count`")
    assert refused({}, Demanding).missing == ("key", "inner")
    assert refused({"key": 1, "inner": {}}, Demanding).missing == ()


def test_a_config_that_is_no_mapping_is_refused() -> None:
    assert str(refused("key")) == "provider-acme: the config is a `str` (must be a mapping)"


# Holds: setting-2
def test_the_error_is_of_every_kind_that_callers_catch_and_can_be_copied() -> None:
    error = refused({"seconds": 0})
    for kind in (ConfigurationError, ValueError, TypeError):
        assert isinstance(error, kind)
    for twin in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (str(twin), twin.module, twin.key) == (str(error), "provider-acme", "seconds")


# Holds: setting-3
@pytest.mark.parametrize(
    ("config", "environment"),
    [
        ({"key": SECRET * 2}, {}),
        ({"key": [SECRET]}, {}),
        ({"key": {SECRET: 1}}, {}),
        ({}, {"SAMPLE_KEY": SECRET * 2}),
        ({"inner": {"token": [SECRET]}}, {}),
        ({"by_name": {"a": {"token": {"b": SECRET}}}}, {}),
        ({"by_name": {"a": [SECRET]}}, {}),
        ({"inner": [{"token": SECRET}]}, {}),
    ],
)
def test_a_secret_is_in_no_error(config: Any, environment: dict[str, str]) -> None:
    error = refused(config, **environment)
    assert SECRET not in str(error) + repr(error)
    assert error.__cause__ is None
    assert error.__context__ is None


# Holds: setting-3
def test_a_secret_is_in_no_repr() -> None:
    settings = read({"key": SECRET, "inner": {"token": SECRET}})
    assert (settings.key, settings.inner.token) == (SECRET, SECRET)
    assert SECRET not in repr(settings) + str(settings)


def test_a_variable_fills_what_the_config_leaves_open() -> None:
    environment = {"SAMPLE_SECONDS": " 2.5 ", "SAMPLE_KEY": " k "}
    assert read({"key": None}, **environment) == Sample(key="k", seconds=2.5)
    assert read({"key": "", "seconds": 3.0}, **environment) == Sample(key="", seconds=3.0)
    assert read({}, SAMPLE_SECONDS="  ") == Sample()


def test_an_error_names_the_variable_that_a_value_came_from() -> None:
    assert str(refused({}, SAMPLE_SECONDS="-1")) == (
        "provider-acme: `SAMPLE_SECONDS` is -1.0 (must be a number, above 0)"
    )
    assert str(refused({}, SAMPLE_SECONDS="soon")) == (
        "provider-acme: `SAMPLE_SECONDS` is 'soon' (must be a number, above 0)"
    )


def test_unknown_keys_are_warned_of_and_ignored_ones_are_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert read({"raw": True, "lvel": SECRET, "level": "high"}) == Sample(level="high")
    assert [record.message for record in caplog.records] == [
        "provider-acme ignores the unknown config key `lvel` (did you mean `level`?)"
    ]
    assert caplog.records[0].levelno == logging.WARNING


@pytest.mark.parametrize(
    ("key", "named"),
    [
        (5, "`5` is unknown (known: `count`, `token`)"),
        (None, "`None` is unknown (known: `count`, `token`)"),
        ("a\x1b[2J\n", r"`a\x1b[2J\n` is unknown (known: `count`, `token`)"),
    ],
)
def test_an_unknown_key_may_be_anything(
    caplog: pytest.LogCaptureFixture, key: Any, named: str
) -> None:
    read({key: 1})
    shown = named.partition(" ")[0]
    assert f"the unknown config key {shown} (known: " in caplog.text
    assert named in str(refused({key: 1}, Inner))
    assert named.replace("`", "`inner.", 1) in str(refused({"inner": {key: 1}}))


def test_a_long_key_is_cut() -> None:
    assert len(str(refused({"k" * 9_999: 1}, Inner))) < 400


def test_a_renamed_key_still_counts_unless_the_new_one_is_there(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert read({"old": ["a"]}) == read({"old": ["b"], "words": ["a"]}) == Sample(words=("a",))
    text = "provider-acme: `old` is deprecated; use `words`"
    assert [record.message for record in caplog.records] == [text, text]


def test_a_model_may_refuse_unknown_keys_and_none() -> None:
    assert "`lvel` is unknown (did you mean `level`?)" in str(refused({"lvel": 1}, Strict))
    assert "`level` is None (must be " in str(refused({"level": None}, Strict))
    assert read({"inner": None, "seconds": None}, Strict) == Strict()


@pytest.mark.parametrize("module", MODULES)
def test_none_is_absent_in_a_module_unless_its_page_says_otherwise(module: str) -> None:
    model: type[Settings] = importlib.import_module(MODULES[module]).__amplifier_settings__
    needed = [key for key, field in model.model_fields.items() if field.is_required()]
    config: dict[str, Any] = {"api_key": "k"} if "api_key" in needed else {}
    absent = read_settings(model, config, module, {})
    for key, field in model.model_fields.items():
        if field.is_required():
            continue
        has_default = field.get_default(call_default_factory=True) is not None
        if has_default and env_of(field) is None and not model.none_is_absent:
            with pytest.raises(SettingError, match=f"`{key}` is None"):
                read_settings(model, {**config, key: None}, module, {})
        elif key in model.unlimited_keys:
            assert getattr(read_settings(model, {**config, key: None}, module, {}), key) is None
        else:
            assert read_settings(model, {**config, key: None}, module, {}) == absent


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
VALUES = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.text(max_size=3), SCALARS)


# Holds: setting-1
@pytest.mark.parametrize("module", MODULES)
@given(data=st.data())
def test_a_module_takes_a_value_or_names_the_key(module: str, data: st.DataObject) -> None:
    model: type[Settings] = importlib.import_module(MODULES[module]).__amplifier_settings__
    key = data.draw(st.sampled_from(sorted(model.model_fields) or ["nothing"]))
    config = {"api_key": "k", key: data.draw(VALUES)}
    known = {name: value for name, value in config.items() if name in model.model_fields}
    try:
        settings = read_settings(model, known, module, {})
    except SettingError as error:
        text = str(error)
    else:
        text = f"{module}: `{key}`"
        assert read_settings(model, settings.model_dump(), module, {}) == settings
    assert text.startswith(f"{module}: `{key}")


class Shared(Settings):
    is_shared = True

    level: Annotated[int, Env("SHARED_LEVEL", int)] = 1


def test_modules_that_are_told_nothing_have_one_object_of_shared_settings():
    told = [{}, None, {"level": None}]
    first, *others = (read_settings(Shared, each, "m", {}) for each in told)
    assert all(each is first for each in others)
    assert read_settings(Shared, {"level": 1}, "m", {}) == first
    assert read_settings(Shared, {}, "m", {"SHARED_LEVEL": "2"}) == Shared(level=2)
    assert (
        read_settings(Sample, {}, "m", {}).values is not read_settings(Sample, {}, "m", {}).values
    )


def test_modules_that_are_told_the_same_have_one_object_of_shared_settings():
    config: dict[str, Any] = {"level": 2}
    first = read_settings(Shared, config, "m", {})
    assert read_settings(Shared, None, "m", {"SHARED_LEVEL": "2"}) is first
    config["level"] = 3
    assert (first.level, read_settings(Shared, config, "m", {}).level) == (2, 3)
    # Equal values of another type are other values.
    with pytest.raises(SettingError, match="`level` is True"):
        read_settings(Shared, {"level": True}, "m", {})


def test_a_random_tag_is_another_one_in_each_session():
    tags = [read_settings(LoopSettings, {"tool_tags": "session"}, "loop", {}) for _ in range(2)]
    assert tags[0].tool_tags != tags[1].tool_tags
