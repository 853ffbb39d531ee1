"""A file for the user to begin with, and its JSON schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from amplifier_guard.project_settings import Choice, Flag, Form, Number, Whole

from .keys import KEYS, PROFILE, PROFILES, Shape, Tables

_EXAMPLES: Mapping[str, str] = {
    "model": '"anthropic"',
    "mode": '"ask"',
    "system_file": '"~/prompts/system.md"',
    "plan": '"~/plans/mine.toml"',
    "modules": '{ "tool-bash" = { network = "off" } }',
    "tool_rate": '"30/60"',
    "rate": '"30/60"',
    "prices": '{ "MODEL" = { input = 3, output = 15 } }',
}
_HEAD = """\
# The configuration of `amplifier-core`. An option counts before a variable of the environment, that
# before a profile, and that before the rest of this file. `amplifier-core config show` shows what counts.
"""


def write_template() -> str:
    """Return a file in which each key is a comment."""
    return "\n".join([_HEAD, *_write_keys(), *_write_profile(), ""])


def _write_keys() -> Iterator[str]:
    for name, key in KEYS.items():
        usual = f" Usually {key.usual}." if key.usual else ""
        yield f"# {key.meaning}{usual}"
        value = _EXAMPLES.get(name) or key.usual.replace(",", "").strip("`")
        yield f"# {name} = {value}"
        yield ""


def _write_profile() -> Iterator[str]:
    yield "# The profile that counts without `--profile`."
    yield f'# {PROFILE} = "careful"'
    yield ""
    yield f"# [{PROFILES}.careful]"
    yield '# mode = "review"'


def make_schema() -> dict[str, Any]:
    """Return the JSON schema of the file, for editors."""
    keys = {name: _describe_key(key.form, key.meaning) for name, key in KEYS.items()}
    profile = {"type": "object", "properties": keys, "additionalProperties": False}
    named = {"type": "string", "description": "The profile that counts without `--profile`."}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The configuration of amplifier-core",
        **profile,
        "properties": {
            **keys,
            PROFILE: named,
            PROFILES: {"type": "object", "additionalProperties": profile},
        },
    }


def _describe_key(form: Form, meaning: str) -> dict[str, Any]:
    return {**_describe_form(form), "description": meaning}


def _describe_form(form: Form) -> dict[str, Any]:
    match form:
        case Choice(words):
            return {"enum": [*words]}
        case Flag():
            return {"type": "boolean"}
        case Whole(least, most):
            return {"type": "integer", "minimum": least, "maximum": most}
        case Number(least, most):
            return {"type": "number", "minimum": least, "maximum": most}
        case Tables():
            return {"type": "object", "additionalProperties": {"type": "object"}}
        case Shape(_, pattern):
            return {"type": "string", "pattern": f"^{pattern}$"}
        case _:
            return {"type": "string", "minLength": 1}
