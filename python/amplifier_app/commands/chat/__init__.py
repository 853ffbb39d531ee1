"""A conversation in the terminal: what is typed, what is answered, and its own commands."""
