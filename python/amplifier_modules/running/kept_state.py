"""What a module keeps of a session beside the conversation, so that it can go on after a restart."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

STATE = "state:"
"""How the kinds of the rows begin that have such a state; the last of a kind counts."""
COMMAND_LIMITS_STATE = f"{STATE}command-limits"
"""The kind of what the command of a turn leaves of the tools."""


class KeptState(Protocol):
    """One state; a context, a loop or a tool returns its states from `kept_states(coordinator)`."""

    kind: ClassVar[str]
    """The kind of its rows: `state:` and a name."""

    def describe(self) -> Any:
        """Return it as JSON, an equal value as long as it is the same; None for nothing.

        It is called often, and the value must not be changed later.
        """
        ...

    def restore(self, body: Any) -> None:
        """Take over what `describe` has returned in another process."""
        ...
