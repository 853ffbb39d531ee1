"""Logging in to MCP servers by OAuth: the person's part once, and tokens that are kept and renewed."""
