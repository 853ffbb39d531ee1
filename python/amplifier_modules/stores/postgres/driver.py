"""`asyncpg`, whose types no checker can read."""

from __future__ import annotations

from importlib import import_module
from typing import Any

asyncpg: Any = import_module("asyncpg")
