"""`provider-demo`: a model for those without a key, a program and not a language model."""

from .provider import DemoProvider, DemoSettings, mount
from .server import DemoModel

__all__ = ["DemoModel", "DemoProvider", "mount"]

__amplifier_module_type__ = "provider"
__amplifier_settings__ = DemoSettings
