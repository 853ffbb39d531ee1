"""Hook modules: one module a folder."""
