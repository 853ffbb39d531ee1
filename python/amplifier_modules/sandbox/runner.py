"""What runs the commands of a session: the best sandbox that this machine has."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from pathlib import Path

from amplifier_modules.changes.place import find_changes_folder, list_changes_folders

from .command import AddedPlaces, CommandRunner, Profile, Tier
from .hidden_files import HiddenFiles
from .network.held_hosts import AskAboutHost, HeldHosts
from .network.rules import AnyHost, HostRules, ListedHosts
from .network_setting import Network
from .sandbox import Sandbox
from .seatbelt import SeatbeltRunner, find_nono
from .tiers import find_tier
from .unconfined import UnconfinedRunner


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
    ask_about_host: AskAboutHost | None = None
    """Decides on hosts that the network does not name; None to refuse them."""
    added: AddedPlaces = field(default_factory=AddedPlaces)
    """Further folders that commands use."""


def open_runner(confinement: Confinement) -> CommandRunner:
    """Return what runs the commands of a session; blocks while it looks at the machine.

    Raises:
        OSError: A folder cannot be used.
        ValueError: A host of the network is none.
    """
    rules = _choose_rules(confinement.network, confinement.ask_about_host)
    if confinement.profile == "full" or (found := find_tier()).tier is Tier.NONE:
        return UnconfinedRunner()
    project = str(confinement.project)
    folders = (project, str(confinement.temporary))
    confinement.caches.mkdir(parents=True, exist_ok=True)

    def open_reader(hidden: Sequence[str]) -> AbstractContextManager[CommandRunner]:
        if found.tier is Tier.SEATBELT:
            reader = SeatbeltRunner(*folders, profile="read-only", find_hidden=lambda: hidden)
        else:
            reader = Sandbox(
                *folders,
                found.tier,
                profile="read-only",
                find_hidden=lambda: hidden,
                bubblewrap=found.bubblewrap,
            )
        return closing(reader)

    def find_kept() -> list[str]:
        usual = find_changes_folder()
        return [str(usual.parent), *list_changes_folders(project, usual)]

    find_hidden = HiddenFiles(
        project, open_reader, confinement.find_agreed, find_kept, confinement.added.find_shown
    ).find
    writable = [str(confinement.caches)]
    if found.tier is Tier.SEATBELT:
        return SeatbeltRunner(
            *folders,
            profile=confinement.profile,
            writable=writable,
            added=confinement.added,
            find_hidden=find_hidden,
            # With them, commands may also listen at every port, to the outside too.
            rules=rules if confinement.network == "on" else None,
        )
    return Sandbox(
        *folders,
        found.tier,
        profile=confinement.profile,
        writable=writable,
        shown=[str(confinement.folder)],
        added=confinement.added,
        find_hidden=find_hidden,
        rules=rules,
        bubblewrap=found.bubblewrap,
    )


def describe_remedy(platform: str = sys.platform) -> str:
    """Return what gives a machine a sandbox that has none; or why it has none all the same."""
    if platform == "linux":
        return "install `bubblewrap`, or use a kernel with user namespaces"
    if platform == "win32":
        return "install WSL 2 (`wsl --install`) and run this program there, where commands have one"
    if platform == "darwin" and find_nono() is None:
        return "`pip install 'amplifier-core[seatbelt]'`"
    return "; ".join(find_tier().reasons)


def _choose_rules(network: Network, ask: AskAboutHost | None) -> HostRules | None:
    """Return which hosts are reached; None for none.

    Raises:
        ValueError: A name is no host.
    """
    if network == "off":
        return None
    if network == "on":
        return AnyHost()
    return ListedHosts(network) if ask is None else HeldHosts(ListedHosts(network), ask)
