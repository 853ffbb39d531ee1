"""What each mode lets a session do, asks about and denies, and how a plan ends its mode."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_modules.hooks import approval
from amplifier_modules.sandbox.command import Tier
from amplifier_modules.sandbox.tiers import FoundTier
from amplifier_providers.settings import SettingError

DENIED = "Denied by hook: "
WRITE = ("write_file", {"path": "a", "content": "x"})
LOOK = ("look", {})
TASK = ("task", {"prompt": "p"})


def outcome(texts: list[str]) -> list[str]:
    return ["did" if each == "did it" else "denied" for each in texts]


# Holds: approval-10
@pytest.mark.parametrize(
    ("mode", "asked", "outcomes"),
    [
        ("auto", [], ["did", "did", "did"]),
        ("ask", ["write_file"], ["did", "did", "did"]),
        ("read-only", [], ["denied", "did", "did"]),
        ("plan", [], ["denied", "did", "did"]),
    ],
)
async def test_a_mode_passes_asks_or_denies_what_may_change_something(
    case: Any, mode: str, asked: list[str], outcomes: list[str]
) -> None:
    turn = await case(WRITE, LOOK, TASK).begin(mode=mode)
    turn.tool("write_file")
    turn.tool("look", read_only=True)
    turn.tool("task", acts_in_session=True)
    assert outcome(await turn.run()) == outcomes
    assert [each.tool_name for each in turn.person.asked] == asked


# Holds: approval-10
async def test_nothing_that_a_rule_or_a_grant_allows_is_more_than_the_mode_allows(
    case: Any,
) -> None:
    turn = await case(WRITE).begin(mode="read-only", allow=["Edit"], ask=["Edit"])
    turn.tool("write_file")
    turn.policy._grants.add("", "write_file")
    assert await turn.run() == [
        f"{DENIED}the mode is `read-only`, and `write_file` may change something"
    ]
    assert turn.person.asked == []


# Holds: approval-10
@pytest.mark.parametrize(("command", "runs"), [("ls", True), ("cat a | wc -l", True), ("make", False), ("ls > a", False)])  # fmt: skip
async def test_a_command_that_only_reads_runs_in_every_mode(
    case: Any, tmp_path: Any, command: str, runs: bool
) -> None:
    (tmp_path / "a").write_text("")
    turn = await case(("bash", {"command": command})).begin(mode="plan", root=str(tmp_path))
    turn.tool("bash", is_confined=True, directory=str(tmp_path))
    assert (outcome(await turn.run()) == ["did"]) is runs


# Holds: approval-11
async def test_a_plan_that_a_person_agrees_to_ends_its_mode(case: Any) -> None:
    plan = ("present_plan", {"plan": "1. write\n2. test"})
    turn = await case(WRITE, plan, plan, WRITE, plan).begin(mode="ask", allow=["Edit"])
    turn.tool("write_file")
    await turn.policy.set_mode("plan")
    turn.person.answers = ["no", "yes"]
    first, refused, agreed, second, late = await turn.run()
    assert "call `present_plan` with the plan" in first
    assert refused.startswith(f"{DENIED}User denied: carry out this plan?")
    assert agreed == "The person agreed. The mode is `ask`: carry out the plan."
    assert second == "did it"
    assert late == f"{DENIED}the mode is `ask`: there is no plan to agree to"
    assert turn.person.prompts == ["carry out this plan?\n| 1. write\n| 2. test"] * 2
    assert turn.policy.mode == "ask"
    assert "present_plan" not in turn.turn.tools


# Holds: approval-11
async def test_no_rule_and_no_grant_agrees_to_a_plan(case: Any) -> None:
    plan = ("present_plan", {"plan": "write"})
    turn = await case(plan, plan).begin(mode="plan", allow=["present_plan", "Edit"])
    turn.person.answers = ["session", "no"]
    turn.turn.coordinator.approval_system = None
    assert all(each.startswith(DENIED) for each in await turn.run())
    assert turn.policy.mode == "plan"


async def test_a_plan_tool_that_is_called_by_itself_agrees_to_nothing(case: Any) -> None:
    turn = await case().begin(mode="plan")
    tool = turn.turn.coordinator.mount_points["tools"]["present_plan"]
    result = await tool.execute({"plan": "write"})
    assert (result.success, turn.policy.mode) == (False, "plan")


# Holds: approval-12
@pytest.mark.parametrize(
    ("tier", "mode"), [(Tier.NAMESPACES, "auto"), (Tier.LANDLOCK, "ask"), (Tier.NONE, "ask")]
)
async def test_the_usual_mode_is_auto_where_commands_run_in_namespaces(
    case: Any, monkeypatch: Any, tier: Tier, mode: str
) -> None:
    monkeypatch.setattr(approval, "find_tier", lambda: FoundTier(tier))
    turn = await case().begin()
    assert turn.policy.mode == mode
    await turn.policy.set_mode("plan")
    assert (await turn.policy._leave_plan_mode()) == mode


@pytest.mark.parametrize("mode", ["reviewed", "Auto", "", "all"])
async def test_another_mode_is_refused(case: Any, mode: str) -> None:
    with pytest.raises(SettingError, match="mode"):
        await case().begin(mode=mode)
    turn = await case().begin(mode="ask")
    with pytest.raises(ValueError, match="there is no mode"):
        await turn.policy.set_mode(mode)


# Holds: approval-13
async def test_without_anybody_to_ask_the_answer_is_no(case: Any) -> None:
    turn = await case(WRITE).begin(mode="ask")
    turn.tool("write_file")
    turn.turn.coordinator.approval_system = None
    assert outcome(await turn.run()) == ["denied"]
    assert turn.log == []


# Holds: approval-13
async def test_a_denial_carries_words_to_the_model(case: Any) -> None:
    turn = await case(WRITE).begin(mode="ask")
    turn.tool("write_file")

    class Objector:
        async def request_approval(self, request: Any) -> Any:
            from amplifier_core.models import ApprovalResponse

            return ApprovalResponse(approved=False, reason="use tmp")

    turn.turn.coordinator.get_capability("approval.register_provider")(Objector())
    assert await turn.run() == [f"{DENIED}User denied, and says: use tmp"]


async def test_a_provider_that_cannot_be_asked_is_refused(case: Any) -> None:
    turn = await case().begin()
    with pytest.raises(TypeError, match="cannot be asked"):
        turn.turn.coordinator.get_capability("approval.register_provider")(object())


# Holds: approval-14
async def test_a_question_shows_the_beginning_of_a_long_text_and_all_else_whole(case: Any) -> None:
    write = ("write_file", {"path": "a", "content": "x" * 9000})
    turn = await case(write, ("wipe", {"what": "y" * 9000})).begin(mode="ask")
    turn.tool("write_file")
    turn.tool("wipe")
    texts = await turn.run()
    assert outcome(texts) == ["did", "denied"]
    assert "too long to ask about" in texts[1]
    assert turn.person.prompts == [
        f"run `write_file`? (it writes files)\n| `path`: `a`\n| `content`: `{'x' * 600}` and 8,400 more characters"
    ]
    assert turn.person.asked[0].arguments["content"] == "x" * 9000
