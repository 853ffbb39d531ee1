"""The server over HTTP: who may use it, how much, and what it answers."""
