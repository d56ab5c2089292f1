"""Sources of what is watched. Each feeds the same recorder and ledger; above them nothing knows an
engine.
"""
