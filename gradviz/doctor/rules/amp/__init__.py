"""Scaled gradients."""
