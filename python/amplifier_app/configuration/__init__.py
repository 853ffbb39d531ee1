"""What the command does without options: settings of the user, of a project and of the environment."""
