"""What a model was asked, as digests: whether two requests had the same parts, not what these were."""

from __future__ import annotations

import hashlib
from typing import Any

from amplifier_core.message_models import ChatRequest

from ..contexts.messages import SYSTEM
from .json_text import write_json


def digest_request(request: ChatRequest) -> dict[str, Any]:
    """Return the SHA-256 of the system prompt, the tools, the messages and the options.

    Each is that of the part as stored JSON, or of its `repr` if it has no such form;
    `message_count` says how many messages there are.
    """
    system = [each for each in request.messages if each.role in SYSTEM]
    messages = [each for each in request.messages if each.role not in SYSTEM]
    options = request.model_dump(exclude={"messages", "tools"}, exclude_none=True)
    return {
        "system": _digest(system),
        "tools": _digest(request.tools),
        "messages": _digest(messages),
        "options": _digest(options),
        "message_count": len(messages),
    }


def _digest(part: Any) -> str:
    try:
        text = write_json(part)
    except ValueError:
        text = repr(part)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
