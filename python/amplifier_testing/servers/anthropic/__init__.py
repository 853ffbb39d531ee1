"""A strict server of the Anthropic Messages API."""

from __future__ import annotations

from .judge import judge
from .models import MODELS, AnthropicModel
from .sent_thoughts import SentAnswers
from .server import AnthropicServer

__all__ = ["MODELS", "AnthropicModel", "AnthropicServer", "SentAnswers", "judge"]
