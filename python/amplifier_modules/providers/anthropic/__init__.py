"""`provider-anthropic`: Claude over the Anthropic Messages API, streamed."""

from .config import AnthropicConfig, read_config
from .provider import AnthropicProvider, mount

__all__ = ["AnthropicConfig", "AnthropicProvider", "mount", "read_config"]

__amplifier_module_type__ = "provider"
__amplifier_settings__ = AnthropicConfig
