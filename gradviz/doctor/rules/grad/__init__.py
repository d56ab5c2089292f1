"""Gradients that are missing, stale or mis-scaled."""
