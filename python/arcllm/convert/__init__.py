"""The types of this package from and to the messages of the kernel."""
