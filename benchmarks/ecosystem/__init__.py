"""The library and the releases that others open."""
