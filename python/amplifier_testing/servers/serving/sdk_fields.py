"""Tables of the fields that the official SDK of a dialect knows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from .fields import Fields


class SdkFields:
    """The objects of requests, as the official SDK of a dialect declares them.

    Attributes:
        objects: Objects by their names.
        groups: Groups of objects whose `type` (of messages their `role`) says which fields they
            have beside it.
    """

    def __init__(self, table: Mapping[str, Any]) -> None:
        """Read the content of a table."""
        read = {
            group: {name: Fields(**fields) for name, fields in members.items()}
            for group, members in table.items()
        }
        self.objects: Mapping[str, Fields] = read.pop("objects")
        self.groups: Mapping[str, Mapping[str, Fields]] = read


@cache
def read_sdk_fields(dialect: str) -> SdkFields:
    """Read `sdk_fields.json` in the folder of a dialect."""
    table = Path(__file__).parents[1] / dialect / "sdk_fields.json"
    return SdkFields(json.loads(table.read_text()))
