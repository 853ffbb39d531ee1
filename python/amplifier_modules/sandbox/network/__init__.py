"""What a command may reach: judged by the names of hosts, then by their addresses."""
