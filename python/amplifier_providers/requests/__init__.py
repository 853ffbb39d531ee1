"""What a request asks of a model: thinking, messages in foreign forms, and room in its window."""
