"""A tool that asks before it runs."""

from amplifier_agent import Agent, Question, ScriptedProvider, tool


@tool(needs_approval=True)
def wipe(path: str) -> str:
    """Delete a folder."""
    return f"{path} is gone"


def ask(question: Question) -> bool:
    return input(f"{question.action} [y/N] ") == "y"


model = ScriptedProvider([{"tool": "wipe", "arguments": {"path": "old"}}, "Done."])
print(Agent(model, tools=[wipe], approvals=ask).run_sync("Clean up").text)
