"""The servers that projects bring along, and the sandbox that they run in."""
