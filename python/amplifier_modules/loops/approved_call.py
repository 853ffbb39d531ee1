"""A question to a person about one tool call, and the right to run exactly that call."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amplifier_guard import Approval, ApprovalTicket


class CallQuestion:
    """What a person is asked about: a tool, its arguments to the byte, folder and environment.

    A yes is good once, and not for ever: see `amplifier_guard.ApprovalTicket`.
    """

    def __init__(self, tool_name: str, tool_input: Any) -> None:
        """Ask about this call; what happens to the objects later changes nothing.

        Raises:
            ValueError: The arguments are circular, or nested too deeply.
        """
        self._tool_name = tool_name
        self._approval = self._described(tool_input)
        self._ticket: ApprovalTicket | None = None

    def is_about(self, tool_input: Any) -> bool:
        """Whether these are the arguments, to the byte."""
        return self._described(tool_input) == self._approval

    def grant(self) -> None:
        """Take a yes, which lapses if the call does not run soon."""
        from amplifier_guard import ApprovalTicket

        self._ticket = ApprovalTicket(self._approval)
        self._ticket.answer(True)

    def confirm(self, tool_input: Any) -> None:
        """Use the yes, for these arguments.

        Raises:
            ApprovalDenied: They are not those of the question, or there was no yes, or long ago.
        """
        from amplifier_guard import ApprovalDenied

        if self._ticket is None:
            raise ApprovalDenied("the request is unanswered, not approved")
        self._ticket.redeem(self._described(tool_input))

    def _described(self, tool_input: Any) -> Approval:
        # Imported here: without the extension loops run, but nothing that needs a yes.
        from amplifier_guard import Approval

        # `repr` is for what hooks may have put there and JSON does not know.
        try:
            written = json.dumps(tool_input, default=repr)
        except RecursionError:
            message = "`tool_input` is nested too deeply for a person to be asked about it"
            raise ValueError(message) from None
        return Approval.of((self._tool_name, written), _folder(), os.environ)


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""  # it was removed
