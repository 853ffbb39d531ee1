"""What the models have in common: bases, numbers, the content of tool results."""
