"""The documentation as a site: see docs/publish.py."""
