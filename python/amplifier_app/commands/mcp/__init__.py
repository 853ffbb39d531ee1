"""`amplifier-core mcp`: the MCP servers of a user, and those of a project."""
