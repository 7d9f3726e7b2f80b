"""Demo data for every page of the platform, created once on a fresh machine."""
