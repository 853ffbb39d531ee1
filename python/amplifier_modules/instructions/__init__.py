"""What users and projects write for models: where it is, and how it is read with care."""
