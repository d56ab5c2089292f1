"""Work that nobody uses."""
