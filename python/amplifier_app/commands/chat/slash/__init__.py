"""The slash commands of a conversation, each or each small family in a file."""
