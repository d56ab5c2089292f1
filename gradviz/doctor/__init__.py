"""The doctor: rules over what was seen. ``examine`` runs them all."""

from .examine import all_rules, examine
from .finding import Rule

__all__ = ["Rule", "all_rules", "examine"]
