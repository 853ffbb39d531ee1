"""The demo model, under the name by which programs import it.

with DemoModel() as demo:
    provider = {"module": "provider-anthropic", "config": demo.provider_config()}
"""

from __future__ import annotations

from amplifier_providers.demo import DemoModel

__all__ = ["DemoModel"]
