"""Changes of a project that can be taken back: what one command or one write of a file tool did."""
