"""How a module is found, checked and mounted."""
