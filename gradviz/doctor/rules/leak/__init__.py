"""Graphs that are kept alive."""
