"""Local servers that stand in for recruitment platforms, in tests and by hand (``make doubles``)."""
