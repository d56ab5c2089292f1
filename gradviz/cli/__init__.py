"""The command line: ``gradviz check``, ``gradviz migrate``, ``gradviz demo``, ``gradviz lab``."""
