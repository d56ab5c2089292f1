"""Widgets: anywidget models. State and messages only; they never know an engine."""
