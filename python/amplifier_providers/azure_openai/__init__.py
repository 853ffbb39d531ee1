"""`provider-azure-openai`: models that are deployed on Azure, with a key or Entra ID."""

from typing import TYPE_CHECKING

from ..running.late_names import late_names

if TYPE_CHECKING:
    from .config import AzureOpenAIConfig, read_config
    from .provider import AzureOpenAIProvider, mount

__all__ = ["AzureOpenAIConfig", "AzureOpenAIProvider", "mount", "read_config"]

__amplifier_module_type__ = "provider"

_PLACES = {
    "AzureOpenAIConfig": ("config", "AzureOpenAIConfig"),
    "AzureOpenAIProvider": ("provider", "AzureOpenAIProvider"),
    "__amplifier_settings__": ("config", "AzureOpenAIConfig"),
    "mount": ("provider", "mount"),
    "read_config": ("config", "read_config"),
}
"""Where each name is; those who only ask for the names of models import none of it."""

__getattr__ = late_names(__name__, _PLACES)
