"""The stored sessions as the command sees them: which one is meant, and where a new one is kept."""
