"""All rules of a session, those of files among them, and what is said of those not understood."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .calls import Call
from .rule_files import PROJECT_FILES, WrittenRules, is_trusted, read_rules
from .rules import Rule, RuleError, find_allowing, find_meaning, read_rule, tool_of_rule
from .settings import ApprovalSettings

logger = logging.getLogger(__name__)

SETTINGS = "the settings"
"""Where rules are from that no file has."""
GRANTED = "granted in this session"
"""Where rules are from that a person has granted with an answer."""


@dataclass(frozen=True)
class ListedRule:
    """A rule as a person is shown it."""

    action: str
    """`deny`, `ask` or `allow`."""
    text: str
    """As it is written."""
    place: str
    """Where it is from: a file, `SETTINGS` or `GRANTED`."""
    problem: str = ""
    """Why it does not count as it is written; empty if it does."""


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
        self.listed: Sequence[ListedRule] = ()
        """All rules, those that do not count among them, in the order in which they were added."""

    def add(self, rules: WrittenRules, place: str = SETTINGS, *, is_agreed: bool = True) -> None:
        """Add rules; each that is not understood is a warning.

        Args:
            rules: The rules.
            place: Where they are from.
            is_agreed: Whether what they allow counts.
        """
        for problem in rules.problems:
            logger.warning("hooks-approval: %s", problem)
        # Whoever wrote it wanted less to happen, not more.
        self._deny += self._read("deny", rules.deny, place)
        self._ask += self._read("ask", rules.ask, place)
        if is_agreed:
            self._allow += self._read("allow", rules.allow, place)
        else:
            waits = "does not count: you have not agreed"
            self._list(*(ListedRule("allow", each, place, waits) for each in rules.allow))

    def allow(self, rule: str) -> None:
        """Add a rule for calls that need no question, which a person grants.

        Raises:
            RuleError: It is not understood.
        """
        self._allow.append(read_rule(rule, self._project))
        self._list(ListedRule("allow", rule, GRANTED))

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

    def _read(self, action: str, rules: Iterable[str], place: str) -> list[Rule]:
        read: list[Rule] = []
        asks = action != "allow"
        effect = "asks" if asks else "allows nothing"
        for text in rules:
            problem = ""
            try:
                read.append(read_rule(text, self._project, allows=not asks))
            except RuleError as error:
                logger.warning(
                    "hooks-approval: a rule is not understood, and %s: %s", effect, error
                )
                problem = f"not understood: it {effect}"
                if asks:
                    self._not_understood.append((text, tool_of_rule(text)))
            self._list(ListedRule(action, text, place, problem))
        return read

    def _list(self, *rules: ListedRule) -> None:
        self.listed = (*self.listed, *rules)


def load_rules(settings: ApprovalSettings, project: Path) -> RuleSet:
    """Return the rules of the settings, of the user and of the project; reads files.

    Args:
        settings: The settings of the module.
        project: Its root, an absolute path.
    """
    rules = RuleSet(project)
    for written, place, is_agreed in read_places(settings, project):
        rules.add(written, place, is_agreed=is_agreed)
    return rules


def read_places(
    settings: ApprovalSettings, project: Path
) -> Iterator[tuple[WrittenRules, str, bool]]:
    """Yield the rules of each place, where that is, and whether what they allow counts.

    Args:
        settings: The settings of the module.
        project: Its root, an absolute path.
    """
    yield WrittenRules([*settings.allow], [*settings.ask], [*settings.deny]), SETTINGS, True
    if settings.user_settings is not None:
        yield read_rules(settings.user_settings), str(settings.user_settings), True
    if not settings.project_rules:
        return
    found = {path: read_rules(path) for path in (project / name for name in PROJECT_FILES)}
    allowed = [each for written in found.values() for each in written.allow]
    state = settings.state_folder
    is_agreed = state is not None and is_trusted(project, allowed, state) is True
    for path, written in found.items():
        yield written, str(path), is_agreed
