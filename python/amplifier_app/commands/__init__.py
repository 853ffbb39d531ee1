"""What each command does, from its command line to its exit code."""
