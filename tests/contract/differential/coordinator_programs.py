"""Programs over coordinators: mounts, clean-up, contributions, hook results, approvals."""

from __future__ import annotations

from random import Random

from coordinator_approvals import of_approvals
from coordinator_callables import of_callables
from coordinator_mounts import of_mounts
from coordinator_parts import Step
from coordinator_results import of_random_results, of_results


def programs(random: Random) -> list[Step]:
    return [
        *of_mounts(random, 15),
        *of_callables(),
        *of_results(),
        *of_approvals(),
        *of_random_results(random, 20),
    ]
