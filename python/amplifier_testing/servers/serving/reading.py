"""Reads JSON values of unknown shape."""

from __future__ import annotations

import json
from typing import Any, cast

Json = dict[str, Any]
"""A JSON object."""


def read_mapping(value: object) -> Json:
    """Return `value` if it is an object, else an empty one."""
    return cast("Json", value) if isinstance(value, dict) else {}


def read_items(value: object) -> list[Any]:
    """Return `value` if it is a list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def read_text(value: object) -> str:
    """Return `value` if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def read_objects(value: object) -> list[Json]:
    """Return the objects of a list."""
    return [cast("Json", item) for item in read_items(value) if isinstance(item, dict)]


def json_problem(value: object) -> str | None:
    """Say why `value` cannot be sent as JSON: a lone surrogate, NaN or infinity, deep nesting."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        return "a lone surrogate in a string"
    except ValueError:
        return "a number that is not finite"
    except RecursionError:
        return "nested too deep"
    return None


def parse_body(raw: bytes) -> Json | str:
    """Parse the body of a request; a string says why it is not a JSON object."""
    try:
        value: object = json.loads(raw.decode(), parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        return "invalid UTF-8"
    except RecursionError:
        return "nested too deep"
    except ValueError as error:
        return str(error)
    if not isinstance(value, dict):
        return "not an object"
    return json_problem(cast("Json", value)) or cast("Json", value)


def _refuse_constant(name: str) -> object:
    raise ValueError(f"`{name}` is not JSON")
