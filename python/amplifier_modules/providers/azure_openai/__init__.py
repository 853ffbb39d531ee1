"""`provider-azure-openai`: models that are deployed on Azure, with a key or Entra ID."""

from typing import TYPE_CHECKING

from amplifier_core._late_names import LateNames

if TYPE_CHECKING:
    from .config import AzureOpenAIConfig, read_config
    from .provider import AzureOpenAIProvider, mount

__all__ = ["AzureOpenAIConfig", "AzureOpenAIProvider", "mount", "read_config"]

__amplifier_module_type__ = "provider"

_names = LateNames(
    __name__,
    {
        "config": "AzureOpenAIConfig __amplifier_settings__ read_config",
        "provider": "AzureOpenAIProvider mount",
    },
)
"""Those who only ask for the names of models import none of them."""


def __getattr__(name: str) -> object:
    return _names.get(name)
