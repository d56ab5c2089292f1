"""One folder a family, one file a rule."""
