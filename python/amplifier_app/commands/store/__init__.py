"""The commands about stores of sessions that many machines share."""
