"""Hooks: one module a file, each ends in `mount`."""
