"""The panels that a person opens: each joins a source of the engine's with a widget."""
