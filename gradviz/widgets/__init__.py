"""Widgets: anywidget models. State and messages only; they know the watch's model, never an engine."""
