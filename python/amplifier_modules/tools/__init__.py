"""Tools: what a model may ask a session to do."""
