"""Pictures and pages of a graph that need no kernel: SVG, HTML, DOT and plain text."""
