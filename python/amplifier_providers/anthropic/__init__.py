"""`provider-anthropic`: Claude over the Anthropic Messages API, streamed."""

from typing import TYPE_CHECKING

from ..running.late_names import late_names

if TYPE_CHECKING:
    from .config import AnthropicConfig, read_config
    from .provider import AnthropicProvider, mount

__all__ = ["AnthropicConfig", "AnthropicProvider", "mount", "read_config"]

__amplifier_module_type__ = "provider"

_PLACES = {
    "AnthropicConfig": ("config", "AnthropicConfig"),
    "AnthropicProvider": ("provider", "AnthropicProvider"),
    "__amplifier_settings__": ("config", "AnthropicConfig"),
    "mount": ("provider", "mount"),
    "read_config": ("config", "read_config"),
}
"""Where each name is; those who only ask for the names of models import none of it."""

__getattr__ = late_names(__name__, _PLACES)
