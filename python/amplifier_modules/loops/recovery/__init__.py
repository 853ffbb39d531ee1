"""What happens when a model makes a mistake that it can correct."""
