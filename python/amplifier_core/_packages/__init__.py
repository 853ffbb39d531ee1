"""Python packages that hold modules: which are installed, how they are named and imported."""
