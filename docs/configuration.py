"""Writes `configuration.md`, the page of all settings, from the models of the modules."""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_origin

from pydantic.fields import FieldInfo

from amplifier_app.commands.settings import CommandVariables
from amplifier_modules import MODULES
from amplifier_providers.settings import Settings, env_of
from amplifier_providers.value_problems import describe, model_within

PAGE = Path(__file__).with_suffix(".md")
INTRODUCTION = """\
# Configuration

Each module takes a `config` in the mount plan:

```python
plan["providers"] = [{"module": "provider-anthropic", "config": {"max_tokens": 4000}}]
```

A key that is absent, or `None` unless the module says otherwise, has its default, after the
environment variable in the table, if there is one. A value that cannot be used raises a
`ConfigurationError` that names the module, the key, what was found and what would be right; the
values of secrets are never shown.

This page is written by `make docs-reference`.
"""
COMMAND = """\
## `amplifier-core run`

Beside the variables above, the command takes these from the environment of the user, and from
nothing in the folder.

| variable | value | sets |
|---|---|---|
"""
UNKNOWN = {
    "refuse": "Unknown keys are errors.",
    "warn": "Unknown keys are ignored with a warning.",
    "ignore": "Unknown keys are ignored.",
}
HEAD = "| key | value | default | environment | meaning |\n|---|---|---|---|---|"


def page() -> str:
    """Return the text of the page."""
    modules: dict[type[Settings], list[str]] = {}
    for module, path in MODULES.items():
        model = importlib.import_module(path).__amplifier_settings__
        modules.setdefault(model, []).append(module)
    sections = [_section(model, names) for model, names in modules.items()]
    variables = "\n".join(_variables())
    return "\n".join([INTRODUCTION, *sections, f"{COMMAND}{variables}\n"])


def _section(model: type[Settings], modules: list[str]) -> str:
    names = ", ".join(f"`{name}`" for name in modules)
    notes = [UNKNOWN[model.unknown_keys]]
    if not model.none_is_absent:
        notes.append("`None` is an error for keys with a default and without a variable.")
    if model.renamed_keys:
        renamed = (f"`{old}` is now `{new}`" for old, new in model.renamed_keys.items())
        notes.append(f"Deprecated: {', '.join(renamed)}.")
    if model.ignored_keys:
        ignored = ", ".join(f"`{key}`" for key in sorted(model.ignored_keys))
        notes.append(f"Without effect here, and without a warning: {ignored}.")
    purpose = (inspect.getdoc(model) or "").partition("\n\n")[0]
    text = textwrap.fill(f"{purpose} {' '.join(notes)}", 100)
    return "\n".join([f"## {names}\n", text, "", HEAD, *_rows(model, "", {}), ""])


def _rows(model: type[Settings], prefix: str, seen: dict[Any, str]) -> Iterator[str]:
    meanings = descriptions(model)
    for key, field in _own_first(model):
        name = f"{prefix}{key}"
        inner = model_within(field.annotation)
        value = describe(field) if field.repr else f"{describe(field)}; secret"
        if inner in seen:
            value = f"as `{seen[inner]}`"
        variable = env_of(field)
        environment = f"`{variable.name}`" if variable else ""
        cells = [f"`{name}`", value, _default(field), environment, meanings[key]]
        yield f"| {' | '.join(cells)} |"
        if inner is not None and inner not in seen:
            seen[inner] = name
            place = f"{name}.<name>." if get_origin(field.annotation) is dict else f"{name}."
            yield from _rows(inner, place, seen)


def _own_first(model: type[Settings]) -> list[tuple[str, FieldInfo]]:
    inherited = {key for base in model.__bases__ for key in getattr(base, "model_fields", ())}
    return sorted(model.model_fields.items(), key=lambda item: item[0] in inherited)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    default: object = field.get_default(call_default_factory=True)
    if default is True or default is False:
        return f"`{str(default).lower()}`"
    if isinstance(default, int | float):
        return f"{default:,.12g}"
    if isinstance(default, tuple) and len(default) == 1:
        default = default[0]
    is_empty = isinstance(default, Settings) or not default
    return "none" if is_empty else f"`{default}`"


def _variables() -> Iterator[str]:
    meanings = descriptions(CommandVariables)
    for key, field in CommandVariables.model_fields.items():
        variable = env_of(field)
        assert variable is not None
        yield f"| `{variable.name}` | {describe(field)} | {meanings[key]} |"


def descriptions(model: type[Settings]) -> dict[str, str]:
    """Return what each field of a model is, from the docstring below it, without the full stop."""
    found: dict[str, str] = {}
    for ancestor in reversed(model.__mro__):
        if not issubclass(ancestor, Settings) or ancestor is Settings:
            continue
        [definition] = ast.parse(textwrap.dedent(inspect.getsource(ancestor))).body
        assert isinstance(definition, ast.ClassDef)
        for field, text in zip(definition.body, definition.body[1:], strict=False):
            match field, text:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(words))),
                ):
                    found[name] = " ".join(words.split()).removesuffix(".")
                case _:
                    pass
    return found


if __name__ == "__main__":
    PAGE.write_text(page())
