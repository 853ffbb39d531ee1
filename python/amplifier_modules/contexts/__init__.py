"""Contexts: where a session keeps its conversation."""
