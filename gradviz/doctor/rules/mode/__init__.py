"""Training, evaluation and freezing."""
