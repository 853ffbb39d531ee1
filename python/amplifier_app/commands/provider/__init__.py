"""The commands about providers: which there are, their models, keys and a trial."""
