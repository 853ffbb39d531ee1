"""How the parts of a turn run: tasks, failures as text, calls beside the conversation."""
