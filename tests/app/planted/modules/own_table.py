"""Puts the planted tools into our own table: the command mounts no others by itself."""

from amplifier_modules import MODULES

MODULES["tool-search"] = "planted_tools"
