"""Where a turn meets hooks, people, cancellation, and the tasks of its tools."""
