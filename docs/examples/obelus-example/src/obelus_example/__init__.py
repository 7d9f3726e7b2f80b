"""Components for Obelus; this module imports nothing that may fail."""

OBELUS_API = 1  # version of the plugin interface
