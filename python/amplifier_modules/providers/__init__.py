"""Model providers: one module for each wire."""
