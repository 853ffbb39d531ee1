"""A yes to a part of what a person is asked about."""

from __future__ import annotations

from amplifier_core.models import ApprovalResponse


class PartialApproval(ApprovalResponse):
    """Agrees to some of the parts of a question, such as some of the files that a command changed."""

    approved: bool = True
    parts: list[str]
    """Their names, of those in `arguments["parts"]` of the question."""
