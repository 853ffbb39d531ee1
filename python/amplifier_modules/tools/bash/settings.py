"""The settings of `tool-bash`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from amplifier_modules.sandbox.command import Profile
from amplifier_modules.sandbox.network_setting import Network, read_network
from amplifier_modules.tool.reading_commands import READING
from amplifier_providers.settings import Settings
from amplifier_providers.value_problems import Form

MAX_SECONDS = 600.0
"""The longest that a call waits for a command."""

_PROFILES: dict[str, Profile] = {
    "strict": "read-only",
    "standard": "project",
    "permissive": "project",
    "unrestricted": "full",
}


class BashSettings(Settings):
    """What commands may do, how long they and their output may be, and what they know."""

    unknown_keys = "warn"

    root: Annotated[Path, Field(strict=False), Form("the path of a folder")] = Path()
    """Folder of the project, where the first command runs, from the session's working directory."""
    safety_profile: Literal["strict", "standard", "permissive", "unrestricted"] = "standard"
    """`strict` writes temporary files alone, `standard` the project too, `permissive` also has the network, `unrestricted` has no sandbox."""
    network: Annotated[
        Literal["off"] | tuple[str, ...],
        BeforeValidator(read_network),
        Form("`off` or a list of host names"),
    ] = ()
    """Hosts that commands in the sandbox reach; a person is asked about others, unless it is `off` or `strict`; `permissive` reaches all unless hosts are named."""
    allow: Annotated[tuple[str, ...], Field(strict=False)] = READING
    """Commands, or their first words, that run without a person's approval where there is no sandbox."""
    timeout: float = Field(default=120.0, gt=0, le=MAX_SECONDS)
    """Seconds after which a command is ended that says nothing else; in the background it has no limit."""
    max_output_bytes: int = Field(default=32_768, ge=1024, le=2**20)
    """Bytes of output in a result, at most; the beginning and the end, the whole is in a file."""
    environment: dict[str, str] = Field(default_factory=dict[str, str], repr=False)
    """Variables that commands have in addition."""
    pass_environment: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Names of variables of this process that commands have too."""
    keep_changes: bool = True
    """Whether what commands change in the project can be taken back."""
    max_jobs: int = Field(default=8, ge=1, le=64)
    """Commands in the background at the same time, at most."""

    @property
    def profile(self) -> Profile:
        """What commands may write."""
        return _PROFILES[self.safety_profile]

    @property
    def reachable(self) -> Network:
        """What commands reach of the network."""
        names_none = self.network in ("off", ())
        if self.profile == "full" or (self.safety_profile == "permissive" and names_none):
            return "on"
        return "off" if self.profile == "read-only" and names_none else self.network
