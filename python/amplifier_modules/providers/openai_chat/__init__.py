"""`provider-openai-chat`: any server that speaks Chat Completions, streamed."""

from typing import TYPE_CHECKING

from amplifier_core._late_names import LateNames

if TYPE_CHECKING:
    from .config import ChatSettings, OpenAIChatConfig, read_config
    from .presets import PRESETS, Preset
    from .provider import ChatProvider, mount

__all__ = [
    "PRESETS",
    "ChatProvider",
    "ChatSettings",
    "OpenAIChatConfig",
    "Preset",
    "mount",
    "read_config",
]

__amplifier_module_type__ = "provider"

_names = LateNames(
    __name__,
    {
        "config": "ChatSettings OpenAIChatConfig __amplifier_settings__ read_config",
        "presets": "PRESETS Preset",
        "provider": "ChatProvider mount",
    },
)
"""Those who only ask for the names of models import none of them."""


def __getattr__(name: str) -> object:
    return _names.get(name)
