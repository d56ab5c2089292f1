"""Optimisers and what they update."""
