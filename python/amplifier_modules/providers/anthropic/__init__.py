"""`provider-anthropic`: Claude over the Anthropic Messages API, streamed."""

from .config import AnthropicConfig
from .provider import AnthropicProvider, mount

__all__ = ["AnthropicProvider", "mount"]

__amplifier_module_type__ = "provider"
__amplifier_settings__ = AnthropicConfig
