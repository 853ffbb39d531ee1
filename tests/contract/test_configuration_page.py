"""`docs/configuration.md` says what the models of the modules say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import BaseModel

from amplifier_modules import MODULES
from amplifier_providers.value_problems import model_within

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("configuration", DOCS / "configuration.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def models(model: type[BaseModel]) -> set[type[BaseModel]]:
    inner = (model_within(field.annotation) for field in model.model_fields.values())
    return {model}.union(*(models(each) for each in inner if each is not None))


# Holds: setting-4
def test_the_page_is_what_the_models_say(writer: ModuleType) -> None:
    written = (DOCS / "configuration.md").read_text()
    assert written == writer.page(), "call `make docs-reference`"


@pytest.mark.parametrize("module", MODULES)
def test_every_setting_of_every_module_is_described(writer: ModuleType, module: str) -> None:
    settings = importlib.import_module(MODULES[module]).__amplifier_settings__
    for model in models(settings):
        assert model.__doc__
        assert writer.descriptions(model).keys() == model.model_fields.keys()
    assert f"`{module}`" in (DOCS / "configuration.md").read_text()
