"""The doctor: rules over what was seen. ``examine`` runs them all."""

from .choice import Choice
from .examine import all_rules, examine, look
from .finding import Rule

__all__ = ["Choice", "Rule", "all_rules", "examine", "look"]
