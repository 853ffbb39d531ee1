"""The models of a turn: which there are, by role, and the calls to them."""
