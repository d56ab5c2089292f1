"""Questions that a program may ask about itself, answered in words: ``explain``, ``leaks``,
``memory``, ``why_alive``, ``check_gradients``, and the assertions.
"""
