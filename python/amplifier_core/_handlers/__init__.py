"""Handlers that no event can call, and answers of handlers that have no effect."""
