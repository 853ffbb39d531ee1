"""The fixtures of the pytest plugin, and what they are made of."""
