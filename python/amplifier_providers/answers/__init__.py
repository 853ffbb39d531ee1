"""The answer of a model: its pieces, blocks, calls and texts in one form for all providers and loops."""
