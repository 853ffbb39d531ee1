from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from amplifier_modules.sandbox.command import Tier
from amplifier_modules.sandbox.tiers import find_tier

sys.path.insert(0, str(Path(__file__).parent))

from sandbox_world import World

TIERS = [Tier.NAMESPACES, Tier.LANDLOCK]


def make_world(tier: Tier, folder: Path) -> World:
    """Return a world in a tier that this machine has; skip where it has not, but fail in CI."""
    found = find_tier()
    if found.tier not in TIERS[: TIERS.index(tier) + 1]:
        message = f"there is no tier `{tier}` here: {'; '.join(found.reasons)}"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(message)
    return World(tier, folder)


@pytest.fixture(params=TIERS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    return make_world(request.param, tmp_path)


@pytest.fixture
def inside(tmp_path: Path) -> World:
    return make_world(Tier.NAMESPACES, tmp_path)
