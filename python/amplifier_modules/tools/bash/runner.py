"""What runs the commands of a session: the best sandbox that this machine has."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path

from amplifier_modules.sandbox.command import CommandRunner, Profile, Tier
from amplifier_modules.sandbox.hidden_files import HiddenFiles
from amplifier_modules.sandbox.network.rules import AnyHost, HostRules, ListedHosts
from amplifier_modules.sandbox.sandbox import Sandbox
from amplifier_modules.sandbox.tiers import find_tier
from amplifier_modules.sandbox.unconfined import UnconfinedRunner

from .network import Network


@dataclass(frozen=True)
class Confinement:
    """To what the commands of a session are kept."""

    project: Path
    """The folder that they work in, links followed."""
    folder: Path
    """The folder of the session, for outputs, at the same path inside and outside."""
    temporary: Path
    """The folder in it for their temporary files."""
    caches: Path
    """The folder for the caches of programs; made where commands may write it."""
    profile: Profile
    network: Network
    find_agreed: Callable[[], Collection[str]] = tuple
    """Returns the files with secrets that a person agreed to show."""


def open_runner(confinement: Confinement) -> CommandRunner:
    """Return what runs the commands of a session; blocks while it looks at the machine.

    Raises:
        OSError: A folder cannot be used.
        ValueError: A host of the network is none.
    """
    rules = _choose_rules(confinement.network)
    if confinement.profile == "full" or (found := find_tier()).tier is Tier.NONE:
        return UnconfinedRunner()
    project, temporary = str(confinement.project), str(confinement.temporary)
    confinement.caches.mkdir(parents=True, exist_ok=True)

    def open_reader(hidden: Sequence[str]) -> AbstractContextManager[CommandRunner]:
        reader = Sandbox(
            project,
            temporary,
            found.tier,
            profile="read-only",
            find_hidden=lambda: hidden,
            bubblewrap=found.bubblewrap,
        )
        return closing(reader)

    return Sandbox(
        project,
        temporary,
        found.tier,
        profile=confinement.profile,
        writable=[str(confinement.caches)],
        shown=[str(confinement.folder)],
        find_hidden=HiddenFiles(project, open_reader, confinement.find_agreed).find,
        rules=rules,
        bubblewrap=found.bubblewrap,
    )


def _choose_rules(network: Network) -> HostRules | None:
    """Return which hosts are reached; None for none.

    Raises:
        ValueError: A name is no host.
    """
    if network == "off":
        return None
    return AnyHost() if network == "on" else ListedHosts(network)
