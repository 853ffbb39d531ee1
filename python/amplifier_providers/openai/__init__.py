"""`provider-openai`: the models of OpenAI over the Responses API, streamed."""

from typing import TYPE_CHECKING

from ..running.late_names import late_names

if TYPE_CHECKING:
    from .config import OpenAIConfig, read_config
    from .provider import OpenAIProvider, mount

__all__ = ["OpenAIConfig", "OpenAIProvider", "mount", "read_config"]

__amplifier_module_type__ = "provider"

_PLACES = {
    "OpenAIConfig": ("config", "OpenAIConfig"),
    "OpenAIProvider": ("provider", "OpenAIProvider"),
    "__amplifier_settings__": ("config", "OpenAIConfig"),
    "mount": ("provider", "mount"),
    "read_config": ("config", "read_config"),
}
"""Where each name is; those who only ask for the names of models import none of it."""

__getattr__ = late_names(__name__, _PLACES)
