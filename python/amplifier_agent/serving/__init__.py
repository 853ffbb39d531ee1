"""Tools and agents as MCP servers: their calls run as those of a session, for the clients of others."""
