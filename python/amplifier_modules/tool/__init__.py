"""What a tool is: a Python function, its schema, its context, its result and its end."""
