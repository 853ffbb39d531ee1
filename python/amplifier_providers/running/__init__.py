"""How asynchronous work is run: event loops and their threads, iterators that are left, and names imported late."""
