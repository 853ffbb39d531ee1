"""What a turn may use, and what it has used."""
