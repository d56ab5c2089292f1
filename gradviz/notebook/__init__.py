"""The notebook: ``%load_ext gradviz``, its magics, what happens before and after each cell."""
