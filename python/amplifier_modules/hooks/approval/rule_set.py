"""All rules of a session, those of files among them, and what is said of those not understood."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

from .calls import Call
from .rule_files import WrittenRules, is_trusted, read_project_rules, read_rules
from .rules import Rule, RuleError, find_allowing, find_meaning, read_rule, tool_of_rule
from .settings import ApprovalSettings

logger = logging.getLogger(__name__)


class RuleSet:
    """The rules of a session; `deny` counts before `ask`, and that before `allow`."""

    def __init__(self, project: Path) -> None:
        """Begin without rules.

        Args:
            project: What paths are counted from.
        """
        self._project = project
        self._allow: list[Rule] = []
        self._ask: list[Rule] = []
        self._deny: list[Rule] = []
        self._not_understood: list[tuple[str, frozenset[str] | None]] = []

    def add(self, rules: WrittenRules) -> None:
        """Add rules; each that is not understood is a warning."""
        for problem in rules.problems:
            logger.warning("hooks-approval: %s", problem)
        self._allow += self._read(rules.allow, "allows nothing")
        # Whoever wrote it wanted less to happen, not more.
        self._ask += self._read(rules.ask, "asks", asks=True)
        self._deny += self._read(rules.deny, "asks", asks=True)

    def allow(self, rule: str) -> None:
        """Add a rule for calls that need no question.

        Raises:
            RuleError: It is not understood.
        """
        self._allow.append(read_rule(rule, self._project))

    def find_denial(self, call: Call) -> str | None:
        """Return the rule that denies a call; None if none is certain to."""
        found = find_meaning(self._deny, call)
        return found[0].text if found is not None and found[1] else None

    def find_question(self, call: Call) -> str | None:
        """Return the rule because of which a person is asked about a call; None if none is."""
        found = find_meaning(self._deny, call) or find_meaning(self._ask, call)
        if found is not None:
            return found[0].text
        for text, tools in self._not_understood:
            if tools is None or call.name in tools:
                return text
        return None

    @property
    def is_empty(self) -> bool:
        """Whether there are none that deny or ask."""
        return not (self._ask or self._deny or self._not_understood)

    def find_allowing(self, call: Call, *, whole: bool = True) -> tuple[Rule, ...] | None:
        """Return the rules that allow a call together; None if they do not.

        Args:
            call: The call.
            whole: Whether those count that mean every call of a tool.
        """
        return find_allowing((each for each in self._allow if whole or not each.is_whole), call)

    def _read(self, rules: Iterable[str], effect: str, *, asks: bool = False) -> list[Rule]:
        read: list[Rule] = []
        for text in rules:
            try:
                read.append(read_rule(text, self._project, allows=not asks))
            except RuleError as error:
                logger.warning(
                    "hooks-approval: a rule is not understood, and %s: %s", effect, error
                )
                if asks:
                    self._not_understood.append((text, tool_of_rule(text)))
        return read


def load_rules(settings: ApprovalSettings, project: Path) -> RuleSet:
    """Return the rules of the settings, of the user and of the project; reads files.

    Args:
        settings: The settings of the module.
        project: Its root, an absolute path.
    """
    rules = RuleSet(project)
    rules.add(WrittenRules([*settings.allow], [*settings.ask], [*settings.deny]))
    if settings.user_settings is not None:
        rules.add(read_rules(settings.user_settings))
    if settings.project_rules:
        of_project = read_project_rules(project)
        state = settings.state_folder
        if state is None or is_trusted(project, of_project.allow, state) is not True:
            of_project.allow.clear()
        rules.add(of_project)
    return rules
