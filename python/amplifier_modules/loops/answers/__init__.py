"""The answer of a model: from the pieces of its provider to events and one response."""
