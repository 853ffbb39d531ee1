"""The commands that show and take back what a session has changed in the project."""
