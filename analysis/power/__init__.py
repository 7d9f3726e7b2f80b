"""Power of a study before and from a pilot: exact, simulated and resampled."""
