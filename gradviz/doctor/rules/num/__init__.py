"""Numbers that went wrong."""
