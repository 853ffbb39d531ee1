"""What a person is asked."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from amplifier_core.models import ApprovalRequest


class Question(ApprovalRequest):
    """A question about one step; `tool_name` is empty where no tool is asked about."""

    id: str
    """What an answer names it by."""
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])
    """All arguments of the tool."""
