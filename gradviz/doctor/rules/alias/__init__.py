"""Two names, one memory."""
