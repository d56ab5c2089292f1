"""Errors that PyTorch's users meet, explained."""
