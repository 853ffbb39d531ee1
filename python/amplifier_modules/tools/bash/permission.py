"""Which commands run only after a person agreed to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from amplifier_guard import ShellDenied, ShellPolicy
from amplifier_modules.sandbox.command import Profile, Tier


@dataclass(frozen=True)
class Permission:
    """Decides by where a command runs, and without a sandbox by what it says."""

    tier: Tier
    """What keeps commands to the project."""
    profile: Profile
    allow: Sequence[str]
    """Commands, or their first words, that run without an approval."""

    def __post_init__(self) -> None:
        """Check what is allowed.

        Raises:
            ValueError: It cannot be used.
        """
        try:
            ShellPolicy(self.allow)
        except ValueError as error:
            raise ValueError(f"tool-bash: `allow` cannot be used: {error}") from error

    @property
    def is_confined(self) -> bool:
        """Whether commands run in a sandbox."""
        return self.tier is not Tier.NONE

    @property
    def asks_always(self) -> bool:
        """Whether a person is asked because there is no sandbox."""
        return not self.is_confined and self.profile != "full"

    def needs_person(self, command: str, directory: str, *, leaves_sandbox: bool) -> bool:
        """Whether a person must agree.

        Args:
            command: What is to run.
            directory: Where it runs.
            leaves_sandbox: Whether it is to run outside of the sandbox.
        """
        if leaves_sandbox:
            return True
        return self.asks_always and not self.is_harmless(command, directory)

    def is_harmless(self, command: str, directory: str) -> bool:
        """Whether `allow` names each part of a command, and it leads nowhere else."""
        try:
            # Of its own for each command: paths are counted from the folder that it runs in.
            ShellPolicy(self.allow, root=directory).check_line(command)
        except (ShellDenied, OSError, ValueError):
            return False
        return True
