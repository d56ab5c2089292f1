"""The command line: ``gradviz check``, ``gradviz demo``, ``gradviz lab``."""
