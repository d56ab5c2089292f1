"""Ways to make communication cheaper."""
