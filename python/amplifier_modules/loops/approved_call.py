"""Approval of one tool call by a person, valid for exactly that call."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amplifier_guard import Approval, ApprovalTicket


class CallQuestion:
    """The call that a person is asked about: tool, exact arguments, folder and environment.

    An approval is valid once and for a limited time: see `amplifier_guard.ApprovalTicket`.
    """

    def __init__(self, tool_name: str, tool_input: Any) -> None:
        """Ask about this call; later changes to the objects have no effect.

        Raises:
            ValueError: The arguments are circular, or nested too deeply.
        """
        self._tool_name = tool_name
        self._approval = self._approval_of(tool_input)
        self._ticket: ApprovalTicket | None = None

    def is_about(self, tool_input: Any) -> bool:
        """Whether these are exactly the arguments."""
        return self._approval_of(tool_input) == self._approval

    def grant(self) -> None:
        """Record the approval, which expires if the call does not run soon."""
        from amplifier_guard import ApprovalTicket

        self._ticket = ApprovalTicket(self._approval)
        self._ticket.answer(True)

    def confirm(self, tool_input: Any) -> None:
        """Use the approval for these arguments.

        Raises:
            ApprovalDenied: The arguments differ, or there is no approval, or it has expired.
        """
        from amplifier_guard import ApprovalDenied

        if self._ticket is None:
            raise ApprovalDenied("the call was not approved")
        self._ticket.redeem(self._approval_of(tool_input))

    def _approval_of(self, tool_input: Any) -> Approval:
        # Imported here: without the extension loops run, but no approved calls.
        from amplifier_guard import Approval

        # `repr` for values of hooks that JSON has no form for.
        try:
            written = json.dumps(tool_input, default=repr)
        except RecursionError:
            message = "`tool_input` is nested too deeply to ask a person about it"
            raise ValueError(message) from None
        return Approval.of((self._tool_name, written), _folder(), os.environ)


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""  # it was removed
