"""Programs over hooks: payloads, answers, registration, running, correlation."""

from __future__ import annotations

from random import Random

from hook_answers import of_answers, of_chains
from hook_correlation import of_correlation
from hook_parts import Step
from hook_payloads import of_payloads, of_values
from hook_registration import of_names, of_registration
from hook_running import of_collected_data, of_collecting, of_nesting


def programs(random: Random) -> list[Step]:
    return [
        *of_payloads(),
        *of_answers(),
        *of_registration(),
        *of_nesting(),
        *of_collecting(),
        *of_collected_data(),
        *of_correlation(),
        *of_names(),
        *of_chains(random, 40),
        *of_values(random, 20),
    ]
