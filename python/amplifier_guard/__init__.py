"""Decisions at the sinks: what a path may reach."""

from amplifier_guard.path import NotText, PathDenied, PathPolicy

__all__ = ["NotText", "PathDenied", "PathPolicy"]
