"""`provider-openrouter`: models of many vendors on OpenRouter, over Chat Completions, streamed."""

from ..config import OpenAIChatConfig
from ..provider import mount_of_preset

__amplifier_module_type__ = "provider"
__amplifier_settings__ = OpenAIChatConfig

mount = mount_of_preset("openrouter")
