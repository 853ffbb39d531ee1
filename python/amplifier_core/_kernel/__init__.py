"""The kernel in plain Python: what the public classes and both engines share."""
