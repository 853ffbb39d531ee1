"""How the kernel shows a message to the user."""

from typing import Literal, Protocol


class DisplaySystem(Protocol):
    """An application's way of showing messages."""

    def show_message(
        self,
        message: str,
        level: Literal["info", "warning", "error"],
        source: str = "hook",
    ) -> None:
        """Show one message; `source` says where it comes from, such as `hook:logging`."""
        ...
