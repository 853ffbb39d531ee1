"""Sub-agents: child sessions that do tasks for a session, at once or in the background."""
