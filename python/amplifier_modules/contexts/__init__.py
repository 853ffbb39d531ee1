"""Contexts: where a session stores its conversation."""
