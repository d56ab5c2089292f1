"""The plain model of what was seen, and the tools that read it. Knows no engine and keeps no user
object.
"""
