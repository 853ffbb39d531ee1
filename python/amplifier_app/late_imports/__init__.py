"""What the command starts without: packages of others that are imported later, or not at all."""
