"""A model for those without an API key: a program behind a real server, not a language model.

with DemoModel() as demo:
    provider = {"module": "provider-anthropic", "config": demo.provider_config()}
"""

from __future__ import annotations

from .demo.server import DemoModel

__all__ = ["DemoModel"]
