"""`provider-huggingface`: the inference providers of Hugging Face over Chat Completions, streamed."""

from ..config import OpenAIChatConfig
from ..provider import mount_of_preset

__amplifier_module_type__ = "provider"
__amplifier_settings__ = OpenAIChatConfig

mount = mount_of_preset("huggingface")
