"""What the two APIs of OpenAI share: words, models, keys, tools and schemas."""

from __future__ import annotations
