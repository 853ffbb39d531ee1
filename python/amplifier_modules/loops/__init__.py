"""Loops: how a session turns a prompt into an answer."""
