"""`provider-anthropic`: Claude over the Anthropic Messages API, streamed."""

from typing import TYPE_CHECKING

from amplifier_core._late_names import LateNames

if TYPE_CHECKING:
    from .config import AnthropicConfig, read_config
    from .provider import AnthropicProvider, mount

__all__ = ["AnthropicConfig", "AnthropicProvider", "mount", "read_config"]

__amplifier_module_type__ = "provider"

_names = LateNames(
    __name__,
    {
        "config": "AnthropicConfig __amplifier_settings__ read_config",
        "provider": "AnthropicProvider mount",
    },
)
"""Those who only ask for the names of models import none of them."""


def __getattr__(name: str) -> object:
    return _names.get(name)
