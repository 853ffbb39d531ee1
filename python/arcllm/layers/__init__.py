"""What each layer of the stack does: one a file."""
