"""What a person reads who is asked before a file tool runs: what would change.

Holds: approval-49
"""

from __future__ import annotations

from pathlib import Path

from amplifier_agent import Agent, Question, ScriptedProvider

ASK = [{"module": "hooks-approval", "config": {"mode": "ask"}}]
READ = {"tool": "read_file", "arguments": {"path": "a.txt"}}
CALLS = [
    READ,
    {"tool": "edit_file", "arguments": {"path": "a.txt", "edits": [{"old": "two", "new": "2"}]}},
    {"tool": "write_file", "arguments": {"path": "b.txt", "content": "x\n"}},
    {"tool": "edit_file", "arguments": {"path": "a.txt", "edits": [{"old": "no", "new": "2"}]}},
]
PROMPTS = [
    "run `edit_file`? (it writes files)\n| modified `a.txt`\n|   @@ -1,2 +1,2 @@\n|    one\n|   -two\n|   +2",
    "run `write_file`? (it writes files)\n| created `b.txt`\n|   @@ -0,0 +1 @@\n|   +x",
    "run `edit_file`? (it writes files)\n| `path`: `a.txt`\n| `edits`: [{`old`: `no`, `new`: `2`}]",
]


async def test_a_question_shows_what_would_change_and_where_that_is_not_known_the_arguments(
    tmp_path: Path,
) -> None:
    asked: list[str] = []

    def answer(question: Question) -> bool:
        asked.append(question.action)
        return "a.txt" in question.action

    (tmp_path / "a.txt").write_text("one\ntwo\n")
    model = ScriptedProvider([*CALLS, "Done."])
    tools = ["tool-filesystem"]
    agent = Agent(model, tools=tools, directory=tmp_path, hooks=ASK, approvals=answer)
    await agent.run("go")
    assert asked == PROMPTS
    assert (tmp_path / "a.txt").read_text() == "one\n2\n"
    assert not (tmp_path / "b.txt").exists()
