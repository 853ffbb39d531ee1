"""Sessions that run in a process of their own, without a terminal."""
