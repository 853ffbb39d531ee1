from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from amplifier_modules.sandbox.bubblewrap import find_bubblewrap
from amplifier_modules.sandbox.command import Tier
from amplifier_modules.sandbox.tiers import find_tier

sys.path.insert(0, str(Path(__file__).parent))

from sandbox_world import World

TIERS = [Tier.NAMESPACES, Tier.LANDLOCK]


def make_world(tier: Tier, folder: Path) -> World:
    """Return a world in a tier that this machine has; skip where it has not, but fail in CI."""
    found = find_tier()
    if found.tier is Tier.NONE or (tier is Tier.NAMESPACES and found.tier is not tier):
        message = f"there is no tier `{tier}` here: {'; '.join(found.reasons)}"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(message)
    return World(tier, folder, {"bubblewrap": found.bubblewrap} if tier is found.tier else {})


@pytest.fixture(params=[*TIERS, "bubblewrap"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    if request.param != "bubblewrap":
        return make_world(request.param, tmp_path)
    bubblewrap = find_bubblewrap()
    if bubblewrap is None:
        pytest.skip("bubblewrap is not installed")
    return World(Tier.NAMESPACES, tmp_path, {"bubblewrap": bubblewrap})


@pytest.fixture
def inside(tmp_path: Path) -> World:
    return make_world(Tier.NAMESPACES, tmp_path)


@pytest.fixture
def networked(inside: World) -> World:
    """A world whose commands have a network in common."""
    if inside.settings.get("bubblewrap"):
        pytest.skip("each command has a network of its own")
    return inside
