"""Tools of which models get names first, and their schemas when they ask for them."""
