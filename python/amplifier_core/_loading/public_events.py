"""The events that public applications and modules of others emit, and may not contribute.

Sources:
    - the contract of the published modules: `provider-anthropic` and `provider-openai` emit
      `llm:stream_block_*` and `llm:stream_aborted`, `provider-ollama` emits `llm:stream:*`;
    - the names under which published tools say what became of a sub-agent (`delegate:*`, `task:*`)
      or of a skill.

A hook of a public bundle may wait for them, whether what emits them is mounted or not.
"""

from __future__ import annotations

PUBLIC_EVENTS = frozenset(
    {
        "delegate:agent_cancelled",
        "delegate:agent_completed",
        "delegate:agent_resumed",
        "delegate:agent_spawned",
        "delegate:error",
        "llm:stream:chunk",
        "llm:stream:thinking",
        "llm:stream_aborted",
        "llm:stream_block_delta",
        "llm:stream_block_end",
        "llm:stream_block_start",
        "skill:loaded",
        "skill:unloaded",
        "skills:discovered",
        "task:agent_completed",
        "task:agent_resumed",
        "task:agent_spawned",
    }
)
