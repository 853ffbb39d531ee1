"""`provider-openai-chat`: any server that speaks Chat Completions, streamed."""

from typing import TYPE_CHECKING

from ..running.late_names import late_names

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

_PLACES = {
    "PRESETS": ("presets", "PRESETS"),
    "ChatProvider": ("provider", "ChatProvider"),
    "ChatSettings": ("config", "ChatSettings"),
    "OpenAIChatConfig": ("config", "OpenAIChatConfig"),
    "Preset": ("presets", "Preset"),
    "__amplifier_settings__": ("config", "OpenAIChatConfig"),
    "mount": ("provider", "mount"),
    "read_config": ("config", "read_config"),
}
"""Where each name is; those who only ask for the names of models import none of it."""

__getattr__ = late_names(__name__, _PLACES)
