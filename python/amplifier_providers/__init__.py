"""Model providers: one module for each API."""
